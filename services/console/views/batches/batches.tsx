import type { BatchSummary } from '#client/responses.js'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useAccountEvents } from '#console/api/account-events.ts'
import { sendRequest } from '#console/api/request.ts'
import { useMayChange } from '#console/api/session.tsx'
import { Field } from '#console/components/field.tsx'
import { LoadMore } from '#console/components/load-more.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { CreateBatch } from './create-batch.tsx'

type BatchPage = { readonly data: readonly BatchSummary[]; readonly meta: { readonly next_cursor: string | null } }

const path = '/v1/screenshots/batch'

const tones = { pending: 'quiet', processing: 'busy', completed: 'good' } as const

/** How far a batch is; that captures failed comes before that it has ended. */
const BatchState = ({ batch: { status, failed } }: { batch: BatchSummary }) =>
  failed > 0 ? (
    <StatusBadge tone="bad" label={texts.batches.failed(failed)} />
  ) : (
    <StatusBadge tone={tones[status]} label={texts.captures.statuses[status]} />
  )

const BatchTable = ({ batches }: { batches: readonly BatchSummary[] }) => (
  <table>
    <TableHead
      columns={[
        texts.batches.title,
        texts.captures.status,
        { title: texts.batches.ended, layout: 'number' },
        { title: texts.captures.created, layout: 'number' },
      ]}
    />
    <tbody>
      {batches.map((batch) => (
        <tr key={batch.id}>
          <td class="main-cell">
            <Link class="ellipsis mono" href={`/batches/${batch.id}`}>
              {batch.id}
            </Link>
          </td>
          <td>
            <BatchState batch={batch} />
          </td>
          <td class="number">
            {batch.completed + batch.failed} / {batch.total}
          </td>
          <td class="number">
            <Time at={batch.created_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Starts batches, and lists them. */
export const Batches = () => {
  const mayChange = useMayChange()
  const [isCreating, setIsCreating] = useState(false)
  const [status, setStatus] = useState('')
  const pollMs = useAccountEvents([path], { changed: (_, refresh) => refresh() })
  const query = useInfiniteQuery({
    queryKey: [path, status],
    queryFn: ({ pageParam, signal }) => {
      const parameters = {
        per_page: '25',
        ...(status !== '' && { status }),
        ...(pageParam !== '' && { cursor: pageParam }),
      }
      return sendRequest<BatchPage>(`${path}?${new URLSearchParams(parameters)}`, { signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? pollMs : false),
  })
  return (
    <Page
      title={texts.pages.batches}
      actions={
        mayChange && (
          <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
            {texts.batches.create}
          </button>
        )
      }
    >
      <div class="filters">
        <Field label={texts.captures.status}>
          {(ids) => (
            <select {...ids} value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
              <option value="">{texts.captures.anyStatus}</option>
              {Object.keys(tones).map((each) => (
                <option key={each} value={each}>
                  {texts.captures.statuses[each as keyof typeof tones]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const batches = pages.flatMap(({ data }) => data)
          if (batches.length === 0)
            return status === '' ? (
              <Notice title={texts.batches.empty}>{texts.batches.emptyText}</Notice>
            ) : (
              <Notice title={texts.batches.emptyFiltered}>{texts.captures.emptyFilteredText}</Notice>
            )
          return (
            <>
              <BatchTable batches={batches} />
              <LoadMore query={query} />
            </>
          )
        }}
      </Loaded>
      {isCreating && <CreateBatch onClose={() => setIsCreating(false)} />}
    </Page>
  )
}
