import type { Delivery, DeliveryAttempt } from '#client/responses.js'
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useAccountEvents } from '#console/api/account-events.ts'
import { sendRequest } from '#console/api/request.ts'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { formatDuration } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { LoadMore } from './load-more.tsx'
import { ErrorNotice, Loaded } from './state.tsx'
import { StatusBadge } from './status-badge.tsx'
import { Time } from './time.tsx'

type DeliveryPage = { readonly data: readonly Delivery[]; readonly meta: { readonly next_cursor: string | null } }

const tones = { pending: 'busy', delivered: 'good', failed: 'bad' } as const
const listedEveryMs = 5000

const Attempt = ({ attempt: { number, at, status, ms, error } }: { attempt: DeliveryAttempt }) => (
  <li>
    <span>{texts.webhooks.attempt(number)}</span>
    <span>{status === null ? texts.webhooks.noAnswer : `HTTP ${status}`}</span>
    {error !== null && <span class="code-word">{texts.webhooks.errors[error]}</span>}
    <span class="number">{formatDuration(ms)}</span>
    <Time at={at} />
  </li>
)

const DeliveryItem = ({ delivery, path }: { delivery: Delivery; path: string }) => {
  const api = useApi()
  const client = useQueryClient()
  const mayChange = useMayChange()
  const [error, setError] = useState<Error>()
  const redeliver = async () => {
    setError(undefined)
    try {
      await api(`${path}/${delivery.id}/redeliver`, { method: 'POST' })
      await client.invalidateQueries({ queryKey: [path] })
    } catch (caught) {
      setError(caught as Error)
    }
  }
  return (
    <li class="delivery">
      <div class="row wrap">
        <StatusBadge tone={tones[delivery.status]} label={texts.webhooks.deliveryStatuses[delivery.status]} />
        <strong>{delivery.event}</strong>
        {delivery.screenshot_id !== null && !path.includes(delivery.screenshot_id) && (
          <Link href={`/captures/${delivery.screenshot_id}`}>{texts.webhooks.capture}</Link>
        )}
        <Time at={delivery.created_at} />
        {delivery.status !== 'pending' && mayChange && (
          <button type="button" class="button small push" onClick={redeliver}>
            {texts.webhooks.redeliver}
          </button>
        )}
      </div>
      <code class="ellipsis muted">{delivery.url}</code>
      <ol class="attempts">
        {delivery.attempts.map((attempt) => (
          <Attempt key={attempt.number} attempt={attempt} />
        ))}
      </ol>
      {delivery.next_attempt_at !== null && (
        <p class="muted small">
          {texts.webhooks.nextAttempt} <Time at={delivery.next_attempt_at} />
        </p>
      )}
      {error && <ErrorNotice error={error} />}
    </li>
  )
}

/** Deliveries of a webhook or capture with their attempts, newest first. */
export const Deliveries = ({ path, empty }: { path: string; empty: ComponentChildren }) => {
  const pollMs = useAccountEvents([path], {
    // Deliveries begin with the end of a capture.
    changed: ({ status }, refresh) => {
      if (status === 'completed' || status === 'failed') refresh()
    },
  })
  const query = useInfiniteQuery({
    queryKey: [path],
    queryFn: ({ pageParam, signal }) => sendRequest<DeliveryPage>(path + pageParam, { signal }),
    initialPageParam: '?per_page=20',
    getNextPageParam: ({ meta }) => (meta.next_cursor === null ? undefined : `?per_page=20&cursor=${meta.next_cursor}`),
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? []
      const isWaiting = pages.some(({ data }) => data.some(({ status }) => status === 'pending'))
      return pages.length === 1 && (isWaiting ? listedEveryMs : pollMs)
    },
  })
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const deliveries = pages.flatMap(({ data }) => data)
        if (deliveries.length === 0) return empty
        return (
          <>
            <ul class="plain deliveries">
              {deliveries.map((delivery) => (
                <DeliveryItem key={delivery.id} delivery={delivery} path={path} />
              ))}
            </ul>
            <LoadMore query={query} />
          </>
        )
      }}
    </Loaded>
  )
}
