import { useId, useMemo, useRef } from 'preact/hooks'
import { texts } from '#console/text/texts.ts'
import { indent } from './indent.ts'

/** Lines beyond have no number: the numbers are one text, made again with each new line. */
const numberedMax = 9999

const countLines = (text: string) => {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0 && count < numberedMax; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** Replaces text as typing does, which can be undone. */
const replaceText = (box: HTMLTextAreaElement, edit: ReturnType<typeof indent>) => {
  box.setSelectionRange(edit.start, edit.end)
  // oxlint-disable-next-line typescript/no-deprecated -- nothing else keeps what Ctrl+Z undoes
  const isDone = document.execCommand('insertText', false, edit.text)
  if (!isDone) {
    box.setRangeText(edit.text, edit.start, edit.end)
    box.dispatchEvent(new Event('input', { bubbles: true }))
  }
  box.setSelectionRange(...edit.selection)
}

/** Indents by Tab, unless Escape was the key before. */
const useTab = () => {
  const isLeaving = useRef(false)
  return {
    onKeyDown: (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
      const isModified = event.ctrlKey || event.altKey || event.metaKey || event.isComposing
      const box = event.currentTarget
      if (event.key === 'Tab' && !isLeaving.current && !isModified) {
        event.preventDefault()
        const range = { start: box.selectionStart, end: box.selectionEnd }
        replaceText(box, indent(box.value, range, event.shiftKey ? 'out' : 'in'))
      }
      // Shift comes before Shift+Tab.
      if (event.key !== 'Shift') isLeaving.current = event.key === 'Escape'
    },
    onBlur: () => {
      isLeaving.current = false
    },
  }
}

/** A text box for code, with line numbers. Tab indents; after Escape it moves on. */
export const Editor = (props: {
  id: string
  label: string
  isInvalid: boolean
  value: string
  maxLength: number | undefined
  onValue: (value: string) => void
}) => {
  const { id, label, isInvalid, value, maxLength, onValue } = props
  const helpId = useId()
  const numbers = useRef<HTMLPreElement>(null)
  const lines = countLines(value)
  const numbersText = useMemo(() => Array.from({ length: lines }, (_, index) => index + 1).join('\n'), [lines])
  const tab = useTab()
  return (
    <div class="editor-field">
      <div class="editor">
        <pre ref={numbers} class="editor-numbers" aria-hidden="true">
          {numbersText}
        </pre>
        <textarea
          {...tab}
          id={id}
          class="mono"
          rows={12}
          wrap="off"
          required
          spellcheck={false}
          autoCapitalize="off"
          aria-label={label}
          aria-describedby={helpId}
          aria-invalid={isInvalid}
          maxLength={maxLength}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          onScroll={(event) => {
            if (numbers.current) numbers.current.scrollTop = event.currentTarget.scrollTop
          }}
        />
      </div>
      <p class="help" id={helpId}>
        {texts.playground.editorHelp}
      </p>
    </div>
  )
}
