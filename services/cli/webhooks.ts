import {
  type Command,
  type CommandContext,
  dataFlag,
  flagCount,
  flagText,
  flagTexts,
  type ParsedArgs,
} from './command/command.ts'
import { table } from './command/table.ts'
import { callInterface } from './http/http-interface.ts'
import { findInterface } from './installation.ts'

type Webhook = {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  readonly active: boolean
  readonly description: string
}

type Delivery = {
  readonly id: string
  readonly event: string
  readonly status: string
  readonly created_at: string
  readonly attempts: readonly { readonly status: number | null; readonly error: string | null }[]
}

const perPageMax = 100
const ofAccount = 'the account, which is that of the API key'

const connect = async ({ env, stop }: CommandContext, args: ParsedArgs) => ({
  ...(await findInterface(env, args)),
  stop,
})

/** An id as a part of a path, which no character of it may leave. */
const part = (id: string | undefined) => encodeURIComponent(id ?? '')

/** `webhook list`: the webhooks of the API key's account. */
export const webhookList: Command = {
  usage: 'webhook list [--data DIR]',
  summary: `lists the webhooks of ${ofAccount}`,
  json: '[{ id, … }], the webhooks of the HTTP interface',
  flags: { data: dataFlag },
  run: async (context, args) => {
    const at = await connect(context, args)
    const { data } = await callInterface<{ data: readonly Webhook[] }>(at, { method: 'GET', path: '/webhooks' })
    context.print({
      json: data,
      text: table([
        ['ID', 'STATE', 'URL', 'EVENTS', 'DESCRIPTION'],
        ...data.map(({ id, active, url, events, description }) => [
          id,
          active ? 'active' : 'inactive',
          url,
          events.join(','),
          description,
        ]),
      ]),
    })
  },
}

/** `webhook create`: creates a webhook, whose secret is shown only here. */
export const webhookCreate: Command = {
  usage: 'webhook create URL [--event E]… [--description TEXT] [--data DIR]',
  summary: `creates a webhook of ${ofAccount}, and shows its secret once`,
  json: '{ id, secret, … }, the webhook of the HTTP interface',
  flags: {
    event: {
      type: 'string',
      value: 'E',
      multiple: true,
      help: 'event to send (default screenshot.completed and screenshot.failed)',
    },
    description: { type: 'string', value: 'TEXT', help: 'what the webhook is for' },
    data: dataFlag,
  },
  run: async (context, args) => {
    const [url = ''] = args.operands
    const [events, description] = [flagTexts(args, 'event'), flagText(args, 'description')]
    const body = { url, ...(events.length > 0 && { events }), ...(description !== undefined && { description }) }
    const at = await connect(context, args)
    const call = { method: 'POST', path: '/webhooks', body } as const
    const { data } = await callInterface<{ data: Webhook & { secret: string } }>(at, call)
    context.print({ json: data, text: `webhook ${data.id}, its secret shown this once: ${data.secret}` })
  },
}

/** `webhook delete`: deletes a webhook with its deliveries. */
export const webhookDelete: Command = {
  usage: 'webhook delete WEBHOOK_ID [--data DIR]',
  summary: 'deletes a webhook, its log of deliveries and those that are pending',
  json: '{ id, deleted }',
  flags: { data: dataFlag },
  run: async (context, args) => {
    const [id = ''] = args.operands
    await callInterface(await connect(context, args), { method: 'DELETE', path: `/webhooks/${part(id)}` })
    context.print({ json: { id, deleted: true }, text: `webhook ${id} is deleted` })
  },
}

/** `webhook test`: queues a `webhook.test` event. */
export const webhookTest: Command = {
  usage: 'webhook test WEBHOOK_ID [--data DIR]',
  summary: 'sends a webhook.test event to a webhook',
  json: '{ id, … }, the delivery of the HTTP interface',
  flags: { data: dataFlag },
  run: async (context, args) => {
    const [id = ''] = args.operands
    const call = { method: 'POST', path: `/webhooks/${part(id)}/test` } as const
    const { data } = await callInterface<{ data: { id: string } }>(await connect(context, args), call)
    context.print({ json: data, text: `delivery ${data.id} is queued; 'webhook deliveries ${id}' shows its outcome` })
  },
}

const outcome = ({ attempts }: Delivery): string => {
  const last = attempts.at(-1)
  return last ? (last.error ?? String(last.status)) : ''
}

/** `webhook deliveries`: the latest deliveries to a webhook. */
export const webhookDeliveries: Command = {
  usage: 'webhook deliveries WEBHOOK_ID [--limit N] [--data DIR]',
  summary: 'lists the latest deliveries to a webhook and their outcome',
  json: '[{ id, … }], the deliveries of the HTTP interface',
  flags: {
    limit: { type: 'string', value: 'N', help: `how many deliveries (default 20, at most ${perPageMax})` },
    data: dataFlag,
  },
  run: async (context, args) => {
    const [id = ''] = args.operands
    const limit = flagCount(args, 'limit', { min: 1, max: perPageMax, fallback: 20 })
    const call = { method: 'GET', path: `/webhooks/${part(id)}/deliveries?per_page=${limit}` } as const
    const { data } = await callInterface<{ data: readonly Delivery[] }>(await connect(context, args), call)
    context.print({
      json: data,
      text: table([
        ['ID', 'EVENT', 'CREATED', 'STATE', 'ATTEMPTS', 'LAST'],
        ...data.map((delivery) => [
          delivery.id,
          delivery.event,
          delivery.created_at,
          delivery.status,
          String(delivery.attempts.length),
          outcome(delivery),
        ]),
      ]),
    })
  },
}

/** `webhook redeliver`: sends a delivery again, with the same body and id. */
export const webhookRedeliver: Command = {
  usage: 'webhook redeliver WEBHOOK_ID DELIVERY_ID [--data DIR]',
  summary: 'sends a delivery to a webhook again',
  json: '{ id, … }, the delivery of the HTTP interface',
  flags: { data: dataFlag },
  run: async (context, args) => {
    const [id = '', deliveryId = ''] = args.operands
    const path = `/webhooks/${part(id)}/deliveries/${part(deliveryId)}/redeliver`
    const { data } = await callInterface<{ data: { id: string } }>(await connect(context, args), {
      method: 'POST',
      path,
    })
    context.print({ json: data, text: `delivery ${data.id} is queued again` })
  },
}
