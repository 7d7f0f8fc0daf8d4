import { jetstreamManager } from '@nats-io/jetstream'
import t, { type Test } from 'tap'
import { deleteCapture } from '#gateway/db/captures.ts'
import { deleteWebhook } from '#gateway/db/webhooks.ts'
import { readConfig } from '#ledger/config.ts'
import { type Ledger, openContext } from '#ledger/context.ts'
import { setUpStreams } from '#ledger/keep-streams.ts'
import { Rest } from '#shared/process/rest.ts'
import { orderErasure } from '#shared/db/accounts.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { applyReports, turns } from '#test/helpers/ledger-turns.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept } from '#test/helpers/running-ledger.ts'
import { createTenant, type Tenant } from '#test/helpers/tenant.ts'
import { openPair, purgeStreams, type Stores, type UseCase } from '#test/helpers/use-case-faults.ts'
import { addWebhook } from '#test/helpers/webhook-sender.ts'
import { reportStart, reportSuccess } from '#test/helpers/worker-reports.ts'

// Each use case of the ledger, with its real context, is run once for every fault at every call that it makes to a store.
// Whatever happened, once its claims have lapsed and it was run again all is as if nothing had happened.

const [server, nats] = await Promise.all([startPostgres(t), startNats(t)])
t.setTimeout(300_000)

type World = Stores & { readonly tenant: Tenant }
type LedgerUseCase = UseCase<Ledger, World>
type Accepted = Awaited<ReturnType<typeof accept>>

const store = async ({ objects }: World, id: string, acceptedAt = new Date()) => {
  const key = newObjectKey(id, acceptedAt)
  await objects.put(key, Buffer.from('image'), 'image/png')
  return key
}

const complete = async (world: World, { id }: Accepted) => {
  const objectKey = await store(world, id)
  const end = { status: 'completed', objectKey, fileSize: 5, sha256: 'ab', mimeType: 'image/png' } as const
  const more = { width: 1, height: 1, warnings: [], timings: {} }
  await changeCaptures(world.database, [id], () => ({
    change: { attempts: 1, unendedStarts: 0, begins: true, end: { ...end, ...more } },
  }))
}

const begin = (world: World, { id }: Accepted, attempts: number) =>
  changeCaptures(world.database, [id], () => ({ change: { attempts, unendedStarts: attempts, begins: true } }))

const accepted = async (world: World) => {
  const capture = await accept(world)
  await publishCapture(world.queue, { ...capture, attempts: 0 })
  await world.database.query('delete from outbox')
  return capture
}

const aged = (world: World, change: string) => world.database.query(`update capture set ${change}`)

const useCases: Readonly<Record<string, LedgerUseCase>> = {
  'relay: an admitted and a waiting capture are published': {
    arrange: async (world) => {
      for (const _ of [1, 2]) await accept(world)
      await world.database.query(
        'update outbox set relay_at = null where capture_id = (select min(capture_id::text)::uuid from outbox)',
      )
      await world.database.query('update lane_meter set admitted = admitted - 1, waiting = waiting + 1')
      await world.database.query('update outbox set relay_at = now() where relay_at is not null')
    },
    act: turns('relay'),
  },
  'reports: a start and a success end a capture': {
    arrange: async (world) => {
      const { id } = await accepted(world)
      await reportStart(world.queue, id)
      await reportSuccess(world.queue, id, { objectKey: await store(world, id) })
    },
    act: applyReports,
  },
  'reaper: a capture whose worker died is sent again': {
    arrange: async (world) => {
      await begin(world, await accepted(world), 1)
      await aged(world, `attempt_started_at = now() - interval '10 minutes'`)
    },
    act: turns('reaper'),
  },
  'reaper: a capture whose worker died twice fails': {
    arrange: async (world) => {
      const capture = await accepted(world)
      await begin(world, capture, 2)
      await aged(world, `attempt_started_at = now() - interval '10 minutes'`)
      await store(world, capture.id)
    },
    act: turns('reaper', 'deletions', 'removals'),
  },
  'unstarted: a capture whose message was lost is sent again': {
    arrange: async (world) => {
      await accepted(world)
      await aged(world, `created_at = now() - interval '10 minutes'`)
      await purgeStreams(world.queue)
    },
    act: turns('unstarted', 'relay'),
  },
  'streams: the captures of a lost stream are sent again': {
    arrange: async (world) => {
      await accepted(world)
      const manager = await jetstreamManager(world.queue.connection)
      for (const { name } of [capturesStream, resultsStream]) await manager.streams.delete(name)
    },
    act: async (ledger) => {
      await setUpStreams(ledger)
      await turns('relay')(ledger)
    },
  },
  'deletions: message, reports and objects of a deleted capture are removed': {
    arrange: async (world) => {
      const capture = await accepted(world)
      await reportStart(world.queue, capture.id)
      await store(world, capture.id)
      await begin(world, capture, 1)
      await deleteCapture(world.database, { id: capture.id, accountId: world.tenant.accountId })
    },
    act: turns('deletions', 'removals'),
  },
  'removals: an expired image is removed, its record stays': {
    arrange: async (world) => {
      await complete(world, await accepted(world))
      await world.database.query(`update stored_object set expires_at = now() - interval '1 second'`)
      await aged(world, `expires_at = now() - interval '1 second'`)
    },
    act: turns('removals'),
  },
  'orphans: an object without a record is removed': {
    arrange: async (world) => {
      await store(world, crypto.randomUUID(), new Date(Date.now() - 72 * 3_600_000))
    },
    act: turns('orphans', 'removals'),
  },
  'retention: an old record is removed': {
    arrange: async (world) => {
      await complete(world, await accepted(world))
      const past = `now() - interval '100 days'`
      await aged(world, `created_at = ${past}, completed_at = ${past}, expires_at = ${past}`)
    },
    act: turns('retention'),
  },
  'receivers: the deliveries of a deleted webhook are removed': {
    arrange: async ({ database, tenant: { accountId } }) => {
      const id = await addWebhook(database, { accountId, url: 'https://hooks.example/', secret: 'whsec_c2VjcmV0' })
      await database.query(
        `insert into webhook_delivery (id, account_id, webhook_id, url, host, event, state, created_at)
         select gen_random_uuid(), $1, $2, '', '', 'webhook.test', 'delivered', now() from generate_series(1, 1300)`,
        [accountId, id],
      )
      await deleteWebhook(database, { accountId, id })
    },
    act: turns('receivers'),
  },
  'erasures: an account is erased with all that it has': {
    arrange: async (world) => {
      await complete(world, await accepted(world))
      await accepted(world)
      await orderErasure(world.database, world.tenant.accountId, 'admin')
    },
    act: turns('erasures', 'deletions', 'removals'),
  },
}

const openLedgers = (test: Test) =>
  openPair<Ledger, World>(
    test,
    { server, nats },
    {
      open: (env, by) => openContext(readConfig(env), { stop: new AbortController().signal, rest: new Rest() }, by),
      prepare: async (stores) => ({ ...stores, tenant: await createTenant(stores.database) }),
    },
  )

for (const [name, useCase] of Object.entries(useCases)) {
  t.test(`ledger: ${name}, whichever call to a store fails or is late`, async (t) => {
    const differences = await openLedgers(t)
    t.same(await differences(useCase), [])
  })
}

/** Ends a capture by statements that should be one, and without a fence. */
const endCarelessly = async ({ database }: Ledger) => {
  const [found] = await database.query(`select from capture where status = 'pending'`)
  if (!found) return
  await database.query('update usage set settled = settled + 1')
  await database.query(`update capture set status = 'failed', part = 'ended'`)
}

const forgetFirst = async ({ database, objects }: Ledger) => {
  const rows = await database.query<{ key: string }>('delete from object_removal returning key')
  await objects.delete(rows.map(({ key }) => key))
}

t.test('ledger: a use case that loses or repeats something is found', async (t) => {
  const differences = await openLedgers(t)
  const differingFaults = async (useCase: LedgerUseCase) =>
    (await differences(useCase, { isWhole: true })).map(({ fault }) => fault.slice(0, fault.indexOf(':')))
  t.same(await differingFaults({ arrange: accepted, act: endCarelessly }), [
    'unanswered at 2',
    'overtaken at 2',
    'refused at 3',
    'overtaken at 3',
  ])
  const arrange = async (world: World) => {
    const key = await store(world, crypto.randomUUID())
    await world.database.query('insert into object_removal (key, not_before) values ($1, now())', [key])
  }
  t.same(await differingFaults({ arrange, act: forgetFirst }), ['unanswered at 1', 'refused at 2'])
})
