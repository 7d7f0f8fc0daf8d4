import type { Webhook } from '#client/responses.js'
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

const WebhookTable = ({ webhooks }: { webhooks: readonly Webhook[] }) => (
  <table>
    <TableHead
      columns={[
        texts.webhooks.url,
        texts.captures.status,
        { title: texts.webhooks.events, layout: 'wide' },
        { title: texts.webhooks.lastDelivery, layout: 'number' },
      ]}
    />
    <tbody>
      {webhooks.map(({ id, url, description, active, events, last_delivery_at }) => (
        <tr key={id}>
          <td class="main-cell">
            <Link class="ellipsis" href={`/webhooks/${id}`}>
              {url}
            </Link>
            {description !== '' && <span class="below muted">{description}</span>}
          </td>
          <td>
            <ActiveBadge active={active} />
          </td>
          <td class="wide">{events.join(', ')}</td>
          <td class="number">
            <Time at={last_delivery_at} />
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
