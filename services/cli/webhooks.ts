import type { WebhookParameters } from '#client/requests.js'
import type { Delivery } from '#client/responses.js'
import { type Command, dataFlag, flagCount, flagText, flagTexts } from './command/command.ts'
import { table } from './command/table.ts'
import { openClient } from './open-client.ts'

const perPageMax = 100
const ofAccount = 'the account, which is that of the API key'

/** `webhook list`: the webhooks of the API key's account. */
export const webhookList: Command = {
  usage: 'webhook list [--data DIR]',
  summary: `lists the webhooks of ${ofAccount}`,
  json: '[{ id, … }], the webhooks of the HTTP interface',
  flags: { data: dataFlag },
  run: async (context, args) => {
    const client = await openClient(context, args)
    const webhooks = await client.webhooks.list()
    context.print({
      json: webhooks,
      text: table([
        ['ID', 'STATE', 'URL', 'EVENTS', 'DESCRIPTION'],
        ...webhooks.map(({ id, active, url, events, description }) => [
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
    const fields = { url, ...(events.length > 0 && { events }), ...(description !== undefined && { description }) }
    const client = await openClient(context, args)
    // The service checks the names of the events.
    const webhook = await client.webhooks.create(fields as WebhookParameters)
    context.print({ json: webhook, text: `webhook ${webhook.id}, its secret shown this once: ${webhook.secret}` })
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
    const client = await openClient(context, args)
    await client.webhooks.delete(id)
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
    const client = await openClient(context, args)
    const delivery = await client.webhooks.test(id)
    context.print({
      json: delivery,
      text: `delivery ${delivery.id} is queued; 'webhook deliveries ${id}' shows its outcome`,
    })
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
    const client = await openClient(context, args)
    const deliveries: Delivery[] = []
    for await (const delivery of client.webhooks.deliveries(id, { perPage: limit })) {
      if (deliveries.push(delivery) === limit) break
    }
    context.print({
      json: deliveries,
      text: table([
        ['ID', 'EVENT', 'CREATED', 'STATE', 'ATTEMPTS', 'LAST'],
        ...deliveries.map((delivery) => [
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
    const client = await openClient(context, args)
    const delivery = await client.webhooks.redeliver(id, deliveryId)
    context.print({ json: delivery, text: `delivery ${delivery.id} is queued again` })
  },
}
