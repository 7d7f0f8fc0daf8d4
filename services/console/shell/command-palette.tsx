import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { isOperator, useSession } from '#console/api/session.tsx'
import { Dialog } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPages, pages } from './views.tsx'

const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Pages whose title contains the text, and the capture that it names. */
const destinationsOf = (text: string, forOperator: boolean) => {
  const trimmed = text.trim()
  if (id.test(trimmed))
    return [{ path: `/${forOperator ? 'trace' : 'captures'}/${trimmed}`, title: texts.shell.openCapture(trimmed) }]
  return [...pages, ...(forOperator ? operatorPages : [])].filter(({ title }) =>
    title.toLowerCase().includes(trimmed.toLowerCase()),
  )
}

const Palette = ({ onClose }: { onClose: () => void }) => {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const found = destinationsOf(text, isOperator(useSession()))
  const open = (path: string) => {
    onClose()
    navigate(path)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (found[0]) open(found[0].path)
  }
  return (
    <Dialog title={texts.shell.find} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <Field label={texts.shell.findPlaceholder}>
          {(ids) => (
            <input {...ids} type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          )}
        </Field>
        <ul class="palette">
          {found.map(({ path, title }) => (
            <li key={path}>
              <button type="button" onClick={() => open(path)}>
                {title}
              </button>
            </li>
          ))}
        </ul>
        {found.length === 0 && <p class="muted">{texts.shell.findNothing}</p>}
      </form>
    </Dialog>
  )
}

/** Opens any page from the keyboard: Ctrl or Command with K. */
export const CommandPalette = () => {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setIsOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <button type="button" class="side-link" aria-keyshortcuts="Control+K" onClick={() => setIsOpen(true)}>
        {texts.shell.find} <kbd>Ctrl K</kbd>
      </button>
      {isOpen && <Palette onClose={() => setIsOpen(false)} />}
    </>
  )
}
