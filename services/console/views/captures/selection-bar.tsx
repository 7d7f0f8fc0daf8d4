import { useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { ApiError } from '#console/api/request.ts'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { texts } from '#console/text/texts.ts'

/** What can be done with the selected captures: compare two, delete all. */
export const SelectionBar = (props: { ids: readonly string[]; onChange: (ids: readonly string[]) => void }) => {
  const { ids, onChange } = props
  const api = useApi()
  const client = useQueryClient()
  const mayChange = useMayChange()
  const [isAsking, setIsAsking] = useState(false)
  const remove = async () => {
    let left = ids
    try {
      // One after the other: a request of the console counts against its limit per minute.
      for (const id of ids) {
        await api(`/v1/screenshots/${id}`, { method: 'DELETE' }).catch((error: unknown) => {
          if (!(error instanceof ApiError && error.status === 404)) throw error
        })
        left = left.filter((each) => each !== id)
      }
      setIsAsking(false)
    } finally {
      // Those that are left stay selected if one could not be deleted.
      onChange(left)
      await client.invalidateQueries({ queryKey: ['/v1/screenshots'] })
    }
  }
  return (
    <div class="row" role="group" aria-label={texts.captures.selected(ids.length)}>
      <span class="muted">{texts.captures.selected(ids.length)}</span>
      {ids.length === 2 && (
        <Link class="button" href={`/captures/${ids[0]}/compare/${ids[1]}`}>
          {texts.captures.compare}
        </Link>
      )}
      {mayChange && (
        <button type="button" class="button danger" onClick={() => setIsAsking(true)}>
          {texts.captures.remove(ids.length)}
        </button>
      )}
      <button type="button" class="button" onClick={() => onChange([])}>
        {texts.captures.clearSelection}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={texts.captures.removeTitle(ids.length)}
          text={texts.captures.removeText}
          submit={texts.captures.remove(ids.length)}
          onSubmit={remove}
          onClose={() => setIsAsking(false)}
        />
      )}
    </div>
  )
}
