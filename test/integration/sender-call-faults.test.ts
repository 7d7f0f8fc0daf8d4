import t, { type Test } from 'tap'
import { Rest } from '#shared/process/rest.ts'
import type { Sql } from '#shared/db/connection.ts'
import type { Post } from '#webhooks/attempt.ts'
import { readConfig } from '#webhooks/config.ts'
import { openContext } from '#webhooks/context.ts'
import type { Outcome } from '#webhooks/outcome.ts'
import { runSender, type Sender } from '#webhooks/sender.ts'
import { callOutside } from '#test/helpers/call-faults.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { testRecordKey } from '#test/helpers/record-seal.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'
import { openPair, type Stores, type UseCase } from '#test/helpers/use-case-faults.ts'
import { addWebhook, captureFor, openingKeyText } from '#test/helpers/webhook-sender.ts'

// The sender of webhooks, with its real context, once for every fault at every call that it makes to PostgreSQL and to a
// receiver. Another sender goes on once leases have lapsed: then deliveries, their log and what receivers have are as if
// nothing had happened.

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
t.setTimeout(300_000)

type World = Stores & { readonly tenant: Tenant }
type Sending = UseCase<Sender, World>

const drainMs = 5000
const settings = {
  SHUTTERFLEET_RECORD_KEYS: testRecordKey,
  SHUTTERFLEET_WEBHOOK_OPENING_KEYS: openingKeyText,
  SHUTTERFLEET_S3_URL: 'http://KEY:SECRET@127.0.0.1:1/images',
  SHUTTERFLEET_WEBHOOK_EGRESS: '127.0.0.1:1',
  SHUTTERFLEET_PUBLIC_URL: 'https://shots.example',
}

const hook = 'https://hooks.example/in'
/** Fails the first attempt of each delivery. */
const failingHook = 'https://hooks.example/fails-once'

/** A receiver, which keeps what it gets in the database, once for each body. */
const receive =
  ({ database }: World) =>
  ({ url, body }: Post): Promise<Outcome> => {
    const respond = async (): Promise<Outcome> => {
      await database.query('insert into received (url, body) values ($1, $2) on conflict do nothing', [url, body])
      const first = await database.query('select from webhook_delivery where url = $1 and attempts = 0', [url])
      return url === failingHook && first.length > 0
        ? { status: 500, failure: 'status' }
        : { status: 204, failure: null }
    }
    // A response that was lost is a failed attempt by right.
    return callOutside(`POST ${url}`, respond, { refused: 'not_tried' })
  }

/** Sends what is due, until nothing is. */
const sendDue = async (sender: Sender, world: World) => {
  const stop = new AbortController()
  const running = runSender({ ...sender, attempt: receive(world) }, stop.signal, drainMs)
  const noneDue = async () => {
    const due = await world.database.query(
      `select from webhook_delivery where state = 'pending' and next_attempt_at <= now() and leased_until is null`,
    )
    return due.length === 0
  }
  await eventually(noneDue, { what: 'nothing is due' })
  stop.abort()
  await running
}

const deliver =
  (url: string) =>
  ({ database, tenant }: World) =>
    captureFor(database, tenant, url)

const arrangeSigned = async ({ database, tenant }: World) => {
  const { accountId } = tenant
  await addWebhook(database, { accountId, url: 'https://hooks.example/signed', secret: 'secret' })
  await captureFor(database, tenant)
}

const useCases: Readonly<Record<string, Sending>> = {
  'a delivery of a request and a signed one are sent': {
    arrange: async (world) => {
      await arrangeSigned(world)
      await deliver(hook)(world)
    },
    act: sendDue,
  },
  'a failed delivery is sent again': { arrange: deliver(failingHook), act: sendDue },
  'a delivery of a webhook that is being deleted is dropped': {
    arrange: async (world) => {
      await arrangeSigned(world)
      await world.database.query('delete from webhook_secret')
    },
    act: sendDue,
  },
  'a delivery that waited too long expires': {
    arrange: async (world) => {
      await deliver(hook)(world)
      await world.database.query(`update webhook_delivery set queued_at = now() - interval '3 days'`)
    },
    act: sendDue,
  },
}

const openSenders = (test: Test) =>
  openPair<Sender, World>(
    test,
    { server, nats },
    {
      open: (env, by) =>
        openContext(readConfig({ ...env, ...settings }), { stop: new AbortController().signal, rest: new Rest() }, by),
      prepare: async (stores) => {
        await stores.database.query('create table received (url text, body text, primary key (url, body))')
        return { ...stores, tenant: await createTenant(stores.database) }
      },
    },
  )

for (const [name, useCase] of Object.entries(useCases)) {
  t.test(`sender: ${name}, whichever call to PostgreSQL or a receiver fails or is late`, async (t) => {
    const differences = await openSenders(t)
    t.same(await differences(useCase), [])
  })
}

/** Stores a result whoever has taken the delivery since. */
const withoutFence = (database: Sql): Sql => ({
  query: (text, parameters, keep) => database.query(text.replace('and d.takes = n.take', ''), parameters, keep),
})

t.test('sender: overwriting the result of another sender is detected', async (t) => {
  const differences = await openSenders(t)
  const found = await differences(
    {
      arrange: deliver(hook),
      act: (sender, world) =>
        sendDue({ ...sender, database: { ...sender.database, ...withoutFence(sender.database) } }, world),
    },
    { isWhole: true },
  )
  // Also what was overtaken between its take and its attempt is sent, and recorded, late.
  t.match(
    found.map(({ fault }) => fault).filter((fault) => fault.includes('POST')),
    [/^overtaken at \d+: POST/],
  )
})
