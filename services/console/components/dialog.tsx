import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { texts } from '#console/text/texts.ts'
import { ErrorNotice } from './state.tsx'

/** A modal dialog. The browser keeps focus inside, closes it by Escape, and returns focus afterwards. */
export const Dialog = (props: { title: string; onClose: () => void; children: ComponentChildren }) => {
  const { title, onClose, children } = props
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={element} aria-labelledby={titleId} onCancel={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  )
}

/** A form in a dialog. Errors of `onSubmit` are shown, and the form stays open. */
export const DialogForm = (props: {
  submit: string
  danger?: boolean
  onSubmit: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}) => {
  const { submit, danger = false, onSubmit, onClose, children } = props
  const [error, setError] = useState<Error>()
  const [isBusy, setIsBusy] = useState(false)
  const send = async (event: Event) => {
    event.preventDefault()
    setIsBusy(true)
    setError(undefined)
    try {
      await onSubmit()
    } catch (caught) {
      setError(caught as Error)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <form class="stack" onSubmit={send}>
      {children}
      {error && <ErrorNotice error={error} />}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          {texts.common.cancel}
        </button>
        <button type="submit" class={`button ${danger ? 'danger' : 'primary'}`} disabled={isBusy}>
          {submit}
        </button>
      </div>
    </form>
  )
}

/** Asks before something that cannot be undone. */
export const ConfirmDialog = (props: {
  title: string
  text: string
  submit: string
  onSubmit: () => Promise<unknown>
  onClose: () => void
}) => {
  const { title, text, ...form } = props
  return (
    <Dialog title={title} onClose={form.onClose}>
      <DialogForm danger {...form}>
        <p>{text}</p>
      </DialogForm>
    </Dialog>
  )
}
