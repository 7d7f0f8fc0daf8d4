import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import { readConfig } from '#gateway/context/config.ts'
import { openContext } from '#gateway/context/context.ts'
import { routes } from '#gateway/routes.ts'
import { relay } from '#ledger/relay.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { Rest } from '#shared/process/rest.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { generateSealingKeys } from '#shared/queue/seal.ts'
import { createTestLedger } from '#test/helpers/ledger.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { testRecordKey } from '#test/helpers/record-seal.ts'
import { testPepper } from '#test/helpers/running-gateway.ts'
import { openPair, type Stores, type UseCase } from '#test/helpers/use-case-faults.ts'

// Requests of the gateway, with its real context, once for every fault at every call that each makes to a store. The client
// repeats its request at another gateway, and the relay publishes: then all is as if nothing had happened.

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
t.setTimeout(300_000)

type Gateway = Pick<Awaited<ReturnType<typeof openContext>>, 'publisher'> & { readonly app: FastifyInstance }
type World = Stores & { readonly key: string }
type Requests = UseCase<Gateway, World>

const settings = {
  SHUTTERFLEET_KEY_PEPPER: testPepper,
  SHUTTERFLEET_RECORD_KEYS: testRecordKey,
  SHUTTERFLEET_LINK_SIGNING_KEYS: `test:${Buffer.alloc(32, 2).toString('base64')}`,
  ...Object.fromEntries(
    ['STANDARD', 'PROXIED', 'STEALTH', 'WEBHOOKS'].map((name) => [
      `SHUTTERFLEET_SEALING_KEY_${name}`,
      generateSealingKeys().public,
    ]),
  ),
}

const openGateways = (test: Test) =>
  openPair<Gateway, World>(
    test,
    { server, nats },
    {
      open: async (env, by) => {
        const lifecycle = {
          stop: new AbortController().signal,
          rest: new Rest(),
          listeningUrl: () => '',
          operations: routes,
        }
        const context = await openContext(readConfig({ ...env, ...settings }), lifecycle, by)
        const app = createApp(context)
        const close = async () => {
          await app.close()
          await context[Symbol.asyncDispose]()
        }
        return { app, publisher: context.publisher, [Symbol.asyncDispose]: close }
      },
      prepare: async (stores) => {
        const { database } = stores
        await replacePlans(database, defaultPlans)
        const { id } = await createAccount(database, { name: 'A', email: 'a@example.com', plan: 'unlimited' })
        return {
          ...stores,
          key: (await createKey(database, { accountId: id, name: '', domains: [], pepper: testPepper })).key,
        }
      },
      meanwhile: ({ database, queue }) => relay(createTestLedger(database, queue)),
    },
  )

const post =
  (url: string, payload: object, idempotency: Readonly<Record<string, string>> = { 'idempotency-key': 'once' }) =>
  async ({ app, publisher }: Gateway, { key }: World) => {
    const headers = { authorization: `Bearer ${key}`, ...idempotency }
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload })
    // Waits for what is published in the background.
    await publisher[Symbol.asyncDispose]()
    if (statusCode >= 300) throw new Error(`${statusCode}: ${body}`)
  }

const page = { url: 'https://example.com/?q=1' }
const nothing = async () => {}

const useCases: Readonly<Record<string, Requests>> = {
  'a capture is accepted': { arrange: nothing, act: post('/v1/screenshots', page) },
  'a capture whose result others may share is accepted': {
    arrange: nothing,
    act: post('/v1/screenshots', { ...page, cache_ttl: 60 }),
  },
  'a batch is accepted': {
    arrange: nothing,
    act: post('/v1/screenshots/batch', { urls: [page.url, 'https://example.com/2'] }),
  },
}

for (const [name, useCase] of Object.entries(useCases)) {
  t.test(`gateway: ${name} once, whichever call to a store fails or is late`, async (t) => {
    const differences = await openGateways(t)
    t.same(await differences(useCase), [])
  })
}

t.test('gateway: a request that is accepted twice is found', async (t) => {
  const differences = await openGateways(t)
  const found = await differences({ arrange: nothing, act: post('/v1/screenshots', page, {}) }, { isWhole: true })
  t.match(found, [{ fault: /^refused at 1/ }])
})
