import { useState } from 'preact/hooks'
import { texts } from '#console/text/texts.ts'
import { Field } from './field.tsx'

/** A button that copies a text. */
export const CopyButton = ({ text, label = texts.common.copy }: { text: string; label?: string }) => {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), 2000)
  }
  // Browsers offer the clipboard only to https and localhost.
  if (!('clipboard' in navigator)) return null
  return (
    <button type="button" class="button" aria-live="polite" onClick={copy}>
      {isCopied ? texts.common.copied : label}
    </button>
  )
}

/** A text to copy, in a read-only text box. */
export const CopyField = ({ label, text }: { label: string; text: string }) => (
  <div class="copy-field">
    <Field label={label}>
      {(ids) => <input {...ids} class="mono" readOnly value={text} onFocus={(event) => event.currentTarget.select()} />}
    </Field>
    <CopyButton text={text} />
  </div>
)
