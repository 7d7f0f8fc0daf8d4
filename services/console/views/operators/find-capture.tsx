import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { Field } from '#console/components/field.tsx'
import { texts } from '#console/text/texts.ts'

/** Opens a capture of any account by its id. */
export const FindCapture = () => {
  const [, navigate] = useLocation()
  const [id, setId] = useState('')
  const open = (event: Event) => {
    event.preventDefault()
    navigate(`/trace/${encodeURIComponent(id.trim())}`)
  }
  return (
    <form class="filters" onSubmit={open}>
      <Field label={texts.operator.trace.find}>
        {(ids) => (
          <input
            {...ids}
            class="mono"
            required
            autoComplete="off"
            value={id}
            onInput={(event) => setId(event.currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit" class="button">
        {texts.operator.trace.submit}
      </button>
    </form>
  )
}
