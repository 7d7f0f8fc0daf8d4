import type { Webhook, WebhookWithSecret } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useLocation, useParams } from 'wouter-preact'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { Deliveries } from '#console/components/deliveries.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { ShownOnce } from '#console/components/shown-once.tsx'
import { ErrorNotice, Loaded, Notice } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { texts } from '#console/text/texts.ts'
import { ActiveBadge } from './webhooks.tsx'

const Facts = ({ webhook }: { webhook: Webhook }) => (
  <p class="facts">
    <ActiveBadge active={webhook.active} />
    <span>{webhook.events.join(', ')}</span>
    <span>
      {texts.webhooks.lastDelivery}: <Time at={webhook.last_delivery_at} />
    </span>
    {webhook.description !== '' && <span>{webhook.description}</span>}
  </p>
)

const Actions = ({ webhook, path }: { webhook: Webhook; path: string }) => {
  const api = useApi()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const [error, setError] = useState<Error>()
  const [secret, setSecret] = useState<string>()
  const [isRemoving, setIsRemoving] = useState(false)
  const change = async (run: () => Promise<unknown>) => {
    setError(undefined)
    try {
      await run()
      await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('/v1/webhooks') })
    } catch (caught) {
      setError(caught as Error)
    }
  }
  const toggle = () => change(() => api(path, { method: 'PATCH', body: { active: !webhook.active } }))
  const test = () => change(() => api(`${path}/test`, { method: 'POST' }))
  const rotate = () =>
    change(async () => {
      const { data } = await api<{ data: WebhookWithSecret }>(`${path}/rotate-secret`, { method: 'POST' })
      setSecret(data.secret)
    })
  const remove = async () => {
    await api(path, { method: 'DELETE' })
    navigate('/webhooks')
    await client.invalidateQueries({ queryKey: ['/v1/webhooks'] })
  }
  const { createdTitle, rotatedText, secret: label } = texts.webhooks
  return (
    <>
      <button type="button" class="button primary" onClick={test}>
        {texts.webhooks.test}
      </button>
      <button type="button" class="button" onClick={toggle}>
        {webhook.active ? texts.webhooks.turnOff : texts.webhooks.turnOn}
      </button>
      <button type="button" class="button" onClick={rotate}>
        {texts.webhooks.rotate}
      </button>
      <button type="button" class="button danger" onClick={() => setIsRemoving(true)}>
        {texts.common.remove}
      </button>
      {error && <ErrorNotice error={error} />}
      {secret !== undefined && (
        <ShownOnce
          title={createdTitle}
          text={rotatedText}
          label={label}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
      {isRemoving && (
        <ConfirmDialog
          title={texts.webhooks.removeTitle}
          text={texts.webhooks.removeText}
          submit={texts.common.remove}
          onSubmit={remove}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </>
  )
}

/** A webhook with its deliveries. */
export const WebhookPage = () => {
  const { id = '' } = useParams()
  const mayChange = useMayChange()
  const path = `/v1/webhooks/${encodeURIComponent(id)}`
  const query = useQuery<{ data: Webhook }>({ queryKey: [path] })
  const webhook = query.data?.data
  return (
    <Page
      title={webhook?.url ?? texts.pages.webhooks}
      actions={webhook && mayChange && <Actions webhook={webhook} path={path} />}
    >
      <Loaded query={query} missing={texts.webhooks.missing}>
        {({ data }) => (
          <>
            <Facts webhook={data} />
            <Section title={texts.webhooks.deliveries}>
              <Deliveries
                path={`${path}/deliveries`}
                empty={<Notice title={texts.webhooks.noDeliveries}>{texts.webhooks.noDeliveriesText}</Notice>}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
