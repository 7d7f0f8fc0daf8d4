import type { ApiKey, Webhook } from '#client/responses.js'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { isOperator, useSession } from '#console/api/session.tsx'
import { Dialog } from '#console/components/dialog.tsx'
import { Field } from '#console/components/field.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPages, pages } from './views.tsx'

const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Destination = { readonly path: string; readonly title: string }

type Named<Entry> = { readonly data: readonly Entry[] }

/** The webhooks and keys of the account, and for operators the accounts, by their names. */
const useNamed = (): readonly Destination[] => {
  const session = useSession()
  const hasAccount = session.account !== null
  const webhooks = useQuery<Named<Webhook>>({ queryKey: ['/v1/webhooks'], enabled: hasAccount })
  const keys = useQuery<Named<ApiKey>>({ queryKey: ['/v1/keys'], enabled: hasAccount })
  return [
    ...(webhooks.data?.data ?? []).map(({ id: each, url, description }) => ({
      path: `/webhooks/${each}`,
      title: texts.shell.openWebhook(`${description} ${url}`.trim()),
    })),
    ...(keys.data?.data ?? []).map(({ name, prefix }) => ({
      path: '/keys',
      title: texts.shell.openKey(`${name} ${prefix}`.trim()),
    })),
  ]
}

/** What has the text in its title, and what the id may be of. */
const destinationsOf = (text: string, named: readonly Destination[], forOperator: boolean): readonly Destination[] => {
  const trimmed = text.trim()
  if (id.test(trimmed))
    return [
      { path: `/${forOperator ? 'trace' : 'captures'}/${trimmed}`, title: texts.shell.openCapture(trimmed) },
      { path: `/batches/${trimmed}`, title: texts.shell.openBatch(trimmed) },
      { path: `/webhooks/${trimmed}`, title: texts.shell.openWebhook(trimmed) },
    ]
  const all = [...pages, ...(forOperator ? operatorPages : []), ...(trimmed === '' ? [] : named)]
  return all.filter(({ title }) => title.toLowerCase().includes(trimmed.toLowerCase()))
}

const Palette = ({ onClose }: { onClose: () => void }) => {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const found = destinationsOf(text, useNamed(), isOperator(useSession()))
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
            <li key={path + title}>
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
