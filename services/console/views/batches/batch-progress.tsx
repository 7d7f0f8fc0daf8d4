import type { Batch, BatchMember } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Link, useLocation, useParams } from 'wouter-preact'
import { useEvents } from '#console/api/events.ts'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { leftOutOf } from '#console/views/playground/form.ts'
import { captureName } from '#console/components/capture-table.tsx'
import { CaptureStatus } from '#console/components/capture-status.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { ErrorNotice, Loaded } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { DownloadBatch } from './download-batch.tsx'

/** Failures first, each group in the order of the request. */
const Members = ({ batch: { screenshots } }: { batch: Batch }) => (
  <table>
    <TableHead columns={[texts.captures.page, texts.captures.status]} />
    <tbody>
      {screenshots
        .toSorted((one, other) => Number(other.status === 'failed') - Number(one.status === 'failed'))
        .map((member) => (
          <tr key={member.id}>
            <td class="main-cell">
              <Link class="ellipsis" href={`/captures/${member.id}`}>
                {captureName(member)}
              </Link>
            </td>
            <td>
              <CaptureStatus status={member.status} />
            </td>
          </tr>
        ))}
    </tbody>
  </table>
)

/** Starts a batch of the pages that failed, as their records have them; undefined if one of them has only a mask of what it was sent. */
const retryOf = ({ screenshots }: Batch) => {
  const failed = screenshots.filter(({ status }) => status === 'failed')
  const [first] = failed
  if (!first) return undefined
  const { url: _url, source: _source, ...options } = { url: null, source: null, ...first.options }
  const body = { ...options, urls: failed.map(({ url }) => url) }
  return leftOutOf({ ...options, url: '' }).length > 0 || failed.some(({ url }) => leftOutOf({ url }).length > 0)
    ? undefined
    : body
}

const Retry = ({ batch }: { batch: Batch }) => {
  const api = useApi()
  const [, navigate] = useLocation()
  const mayChange = useMayChange()
  const [error, setError] = useState<Error>()
  const body = retryOf(batch)
  if (!mayChange || body === undefined || batch.status !== 'completed') return null
  const retry = async () => {
    try {
      const { data } = await api<{ data: { id: string } }>('/v1/screenshots/batch', { method: 'POST', body })
      navigate(`/batches/${data.id}`)
    } catch (caught) {
      setError(caught as Error)
    }
  }
  return (
    <>
      <button type="button" class="button primary" onClick={retry}>
        {texts.batches.retry(body.urls.length)}
      </button>
      {error && <ErrorNotice error={error} />}
    </>
  )
}

const Progress = ({ batch: { total, completed, failed, created_at } }: { batch: Batch }) => (
  <div class="card usage">
    <p class="figure">{texts.batches.progress(completed + failed, total)}</p>
    <progress class="quota" aria-label={texts.batches.title} max={total} value={completed + failed} />
    <p class="muted">
      {failed > 0 && <>{texts.batches.failed(failed)} · </>}
      <Time at={created_at} />
    </p>
  </div>
)

/** A batch while it runs and afterwards. */
export const BatchProgress = () => {
  const { id = '' } = useParams()
  const client = useQueryClient()
  const path = `/v1/screenshots/batch/${encodeURIComponent(id)}`
  const query = useQuery<{ data: Batch }>({ queryKey: [path] })
  const batch = query.data?.data
  const patch = (change: (batch: Batch) => Batch) =>
    client.setQueryData<{ data: Batch }>([path], (old) => old && { data: change(old.data) })
  useEvents(batch && batch.status !== 'completed' ? `${path}/events` : undefined, {
    status: (content) => patch((old) => ({ ...old, ...(content as Partial<Batch>) })),
    screenshot: (content) => {
      const { index, status } = content as BatchMember
      patch((old) => ({
        ...old,
        screenshots: old.screenshots.map((each) => (each.index === index ? { ...each, status } : each)),
      }))
    },
    result: () => void query.refetch(),
    deleted: () => void query.refetch(),
  })
  return (
    <Page title={texts.batches.title} actions={batch && <Retry batch={batch} />}>
      <Loaded query={query} missing={texts.batches.missing}>
        {({ data }) => (
          <>
            <Progress batch={data} />
            <DownloadBatch batch={data} />
            <Section title={texts.batches.members}>
              <Members batch={data} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
