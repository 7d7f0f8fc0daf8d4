import { useQuery } from '@tanstack/preact-query'
import { Loaded } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import type { OperatedKey } from './records.ts'

const words = texts.keys

/** The keys of an account that are not revoked. */
export const AccountKeys = ({ path }: { path: string }) => {
  const query = useQuery<{ data: readonly OperatedKey[] }>({ queryKey: [path] })
  return (
    <Loaded query={query}>
      {({ data }) => {
        const keys = data.filter(({ revoked_at: revokedAt }) => revokedAt === null)
        if (keys.length === 0) return <p class="muted">{texts.operator.accounts.noKeys}</p>
        return (
          <table>
            <TableHead columns={[words.name, words.prefix, { title: words.created, layout: 'number' }]} />
            <tbody>
              {keys.map(({ id, name, prefix, created_at: createdAt }) => (
                <tr key={id}>
                  <td class="main-cell">
                    <span class="ellipsis">{name === '' ? words.unnamed : name}</span>
                  </td>
                  <td>
                    <code>{prefix}…</code>
                  </td>
                  <td class="number">
                    <Time at={createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }}
    </Loaded>
  )
}
