import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import type { ApiKey } from '#client/responses.js'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { scopes } from './scopes.ts'
import { CreateKey } from './create-key.tsx'

const path = '/v1/keys'

const KeyRow = ({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: (() => void) | undefined }) => {
  const { name, prefix, domains, scopes: own, expires_at, created_at, last_used_at } = apiKey
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now()
  return (
    <tr>
      <td class="main-cell">
        {name === '' ? texts.keys.unnamed : name}
        <code class="below narrow">{prefix}…</code>
      </td>
      <td class="wide">
        <code>{prefix}…</code>
      </td>
      <td class="wide">{domains.length === 0 ? texts.keys.anyDomain : domains.join(', ')}</td>
      <td class="wide">{own.length === scopes.length ? texts.keys.allScopes : own.join(', ')}</td>
      <td class="wide number">{isExpired ? texts.keys.expired : <Time at={expires_at} />}</td>
      <td class="wide number">
        <Time at={created_at} />
      </td>
      <td class="number">
        <Time at={last_used_at} />
      </td>
      <td class="number">
        {onRevoke && (
          <button type="button" class="button small" aria-label={`${texts.keys.revoke} ${name}`} onClick={onRevoke}>
            {texts.keys.revoke}
          </button>
        )}
      </td>
    </tr>
  )
}

const KeyTable = ({ keys, onRevoke }: { keys: readonly ApiKey[]; onRevoke: ((key: ApiKey) => void) | undefined }) => (
  <table>
    <TableHead
      columns={[
        texts.keys.name,
        { title: texts.keys.prefix, layout: 'wide' },
        { title: texts.keys.domains, layout: 'wide' },
        { title: texts.keys.scopes, layout: 'wide' },
        { title: texts.keys.expires, layout: 'wide number' },
        { title: texts.keys.created, layout: 'wide number' },
        { title: texts.keys.lastUsed, layout: 'number' },
        { title: texts.common.actions, layout: 'number', isHidden: true },
      ]}
    />
    <tbody>
      {keys.map((key) => (
        <KeyRow key={key.id} apiKey={key} onRevoke={onRevoke && (() => onRevoke(key))} />
      ))}
    </tbody>
  </table>
)

/** The API keys of the account: create, and revoke. */
export const Keys = () => {
  const api = useApi()
  const client = useQueryClient()
  const query = useQuery<{ data: readonly ApiKey[] }>({ queryKey: [path] })
  const [isCreating, setIsCreating] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey>()
  const reload = () => client.invalidateQueries({ queryKey: [path] })
  const revoke = async () => {
    await api(`${path}/${revoked?.id}`, { method: 'DELETE' })
    setRevoked(undefined)
    await reload()
  }
  const mayChange = useMayChange()
  return (
    <Page
      title={texts.pages.keys}
      actions={
        mayChange && (
          <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
            {texts.keys.create}
          </button>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Notice title={texts.keys.empty}>{texts.keys.emptyText}</Notice>
          ) : (
            <KeyTable keys={data} onRevoke={mayChange ? setRevoked : undefined} />
          )
        }
      </Loaded>
      {isCreating && <CreateKey path={path} onCreated={reload} onClose={() => setIsCreating(false)} />}
      {revoked && (
        <ConfirmDialog
          title={texts.keys.revokeTitle(revoked.name === '' ? texts.keys.unnamed : revoked.name)}
          text={texts.keys.revokeText}
          submit={texts.keys.revoke}
          onSubmit={revoke}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </Page>
  )
}
