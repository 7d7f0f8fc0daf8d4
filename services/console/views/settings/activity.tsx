import type { ActivityEntry, ApiKey } from '#client/responses.js'
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { servedPath } from '#console/api/base-path.ts'
import { sendRequest } from '#console/api/request.ts'
import { Field } from '#console/components/field.tsx'
import { LoadMore } from '#console/components/load-more.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'

type ActivityPage = { readonly data: readonly ActivityEntry[]; readonly meta: { readonly next_cursor: string | null } }

const exportedDays = 90

/** Operations that a person looks for: those that change something. */
const operations = [
  'create',
  'capture_post',
  'capture_get',
  'batch',
  'delete',
  'sign_url',
  'key_create',
  'key_revoke',
  'account_targets_replace',
  'webhook_create',
  'webhook_change',
  'webhook_delete',
  'webhook_rotate_secret',
  'upload_destination_create',
  'upload_destination_delete',
]

/** Path of a page of activities. */
const pathOf = (operation: string, cursor: string) => {
  const filter = operation === '' ? {} : { operation }
  return `/v1/account/activity?${new URLSearchParams({ per_page: '50', ...filter, ...(cursor !== '' && { cursor }) })}`
}

const Row = ({ entry, keyName }: { entry: ActivityEntry; keyName: string | undefined }) => {
  const { at, key_id, client, operation, object_id, status, code } = entry
  return (
    <tr>
      <td class="nowrap">
        <Time at={at} />
      </td>
      <td class="main-cell">
        <code class="ellipsis">{operation}</code>
        {code !== null && <span class="code-word">{code}</span>}
        {object_id !== null && (
          <code class="below ellipsis muted" title={object_id}>
            {object_id}
          </code>
        )}
      </td>
      <td>
        <StatusBadge tone={status < 400 ? 'good' : 'bad'} label={String(status)} />
      </td>
      <td class="wide">{key_id === null ? texts.activity.session : (keyName ?? texts.activity.revokedKey)}</td>
      <td class="wide">
        <code>{client}</code>
      </td>
    </tr>
  )
}

const Table = ({ entries }: { entries: readonly ActivityEntry[] }) => {
  const { data: keys } = useQuery<{ data: readonly ApiKey[] }>({ queryKey: ['/v1/keys'] })
  const names = new Map(keys?.data.map(({ id, name, prefix }) => [id, name === '' ? prefix : name]))
  return (
    <table>
      <TableHead
        columns={[
          texts.activity.time,
          texts.activity.operation,
          texts.activity.outcome,
          { title: texts.activity.by, layout: 'wide' },
          { title: texts.activity.client, layout: 'wide' },
        ]}
      />
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} keyName={names.get(entry.key_id ?? '')} />
        ))}
      </tbody>
    </table>
  )
}

/** Path of a file with the activity of the last days; what is older is removed. */
const exportPath = (operation: string) => {
  const from = new Date(Date.now() - exportedDays * 86_400_000).toISOString()
  return servedPath(
    `/v1/account/activity/export?${new URLSearchParams({ from, ...(operation !== '' && { operation }) })}`,
  )
}

/** What the requests of the account did, newest first. */
export const Activity = () => {
  const [operation, setOperation] = useState('')
  const query = useInfiniteQuery({
    queryKey: ['/v1/account/activity', operation],
    queryFn: ({ pageParam, signal }) => sendRequest<ActivityPage>(pathOf(operation, pageParam), { signal }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
  })
  return (
    <Page
      title={texts.pages.activity}
      actions={
        <a class="button" href={exportPath(operation)} download="activity.ndjson">
          {texts.activity.export}
        </a>
      }
    >
      <div class="filters">
        <Field label={texts.activity.operation}>
          {(ids) => (
            <select {...ids} value={operation} onChange={(event) => setOperation(event.currentTarget.value)}>
              <option value="">{texts.activity.all}</option>
              {operations.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const entries = pages.flatMap(({ data }) => data)
          if (entries.length === 0) return <Notice title={texts.activity.empty}>{texts.activity.emptyText}</Notice>
          return (
            <>
              <Table entries={entries} />
              <LoadMore query={query} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
