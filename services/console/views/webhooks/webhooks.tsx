import type { Delivery, Webhook } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useMayChange } from '#console/api/session.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { CreateWebhook } from './create-webhook.tsx'

const path = '/v1/webhooks'

/** Whether events are sent. */
export const ActiveBadge = ({ active }: Pick<Webhook, 'active'>) => (
  <StatusBadge tone={active ? 'good' : 'quiet'} label={active ? texts.webhooks.active : texts.webhooks.inactive} />
)

/** Deliveries by which the list tells whether a receiver accepts them. */
const latestCount = 5

/** How the latest deliveries went; whether it is active while there are none. */
const Health = ({ webhook: { id, active } }: { webhook: Webhook }) => {
  const { data } = useQuery<{ data: readonly Delivery[] }>({
    queryKey: [`${path}/${id}/deliveries?per_page=${latestCount}`],
    enabled: active,
  })
  const latest = data?.data ?? []
  const refused = latest.filter(({ attempts, status }) => status !== 'delivered' && attempts.length > 0)
  if (!active || refused.length === 0) return <ActiveBadge active={active} />
  return (
    <StatusBadge
      tone={latest[0] && refused.includes(latest[0]) ? 'bad' : 'busy'}
      label={texts.webhooks.refused(refused.length, latest.length)}
    />
  )
}

const WebhookTable = ({ webhooks }: { webhooks: readonly Webhook[] }) => (
  <table>
    <TableHead
      columns={[
        texts.webhooks.url,
        texts.captures.status,
        { title: texts.webhooks.events, layout: 'wide' },
        { title: texts.webhooks.lastDelivery, layout: 'wide number' },
      ]}
    />
    <tbody>
      {webhooks.map((webhook) => (
        <tr key={webhook.id}>
          <td class="main-cell">
            <Link class="ellipsis" href={`/webhooks/${webhook.id}`}>
              {webhook.url}
            </Link>
            {webhook.description !== '' && <span class="below muted">{webhook.description}</span>}
          </td>
          <td>
            <Health webhook={webhook} />
          </td>
          <td class="wide">{webhook.events.join(', ')}</td>
          <td class="wide number">
            <Time at={webhook.last_delivery_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** The webhooks of the account. */
export const Webhooks = () => {
  const client = useQueryClient()
  const mayChange = useMayChange()
  const query = useQuery<{ data: readonly Webhook[] }>({ queryKey: [path] })
  const [isCreating, setIsCreating] = useState(false)
  return (
    <Page
      title={texts.pages.webhooks}
      actions={
        mayChange && (
          <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
            {texts.webhooks.create}
          </button>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Notice title={texts.webhooks.empty}>{texts.webhooks.emptyText}</Notice>
          ) : (
            <WebhookTable webhooks={data} />
          )
        }
      </Loaded>
      {isCreating && (
        <CreateWebhook
          path={path}
          onCreated={() => client.invalidateQueries({ queryKey: [path] })}
          onClose={() => setIsCreating(false)}
        />
      )}
    </Page>
  )
}
