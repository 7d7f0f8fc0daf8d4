import { useQuery } from '@tanstack/preact-query'
import { servedPath } from '#console/api/base-path.ts'
import { useApi } from '#console/api/session.tsx'
import { texts } from '#console/text/texts.ts'

type OwnAccount = { readonly id: string; readonly name: string; readonly is_current: boolean }

/** The accounts of a person who is a member of several. Switching starts a new session, so the page is loaded again. */
export const AccountItems = () => {
  const api = useApi()
  const { data } = useQuery<{ data: readonly OwnAccount[] }>({ queryKey: ['/console/api/accounts'] })
  const accounts = data?.data ?? []
  if (accounts.length < 2) return null
  const switchTo = async (id: string) => {
    try {
      await api('/console/api/session/account', { method: 'POST', body: { account_id: id } })
    } finally {
      location.assign(servedPath('/console/'))
    }
  }
  return (
    <div role="group" aria-label={texts.shell.accounts}>
      {accounts.map(({ id, name, is_current: isCurrent }) => (
        <button key={id} type="button" role="menuitemradio" aria-checked={isCurrent} onClick={() => void switchTo(id)}>
          {name}
        </button>
      ))}
    </div>
  )
}
