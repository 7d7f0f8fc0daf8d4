// Runs what `make bench-flow` measures in the smallest form, and checks that the numbers are plausible and that no capture is lost.
import t from 'tap'
import { fillCaptures } from '#test/bench/fill-captures.ts'
import { createClients } from '#test/bench/served.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { carrierSettings } from '#test/bench/flow/carrier-settings.ts'
import { mixKinds, runClients } from '#test/bench/flow/clients.ts'
import { flowText, waitingText } from '#test/bench/flow/flow-text.ts'
import { diskText, measureDisk } from '#test/bench/flow/measure-disk.ts'
import { type FlowWorkload, lossesIn, measureFlow } from '#test/bench/flow/measure-flow.ts'
import { profileText, readProfile } from '#test/bench/flow/read-profile.ts'
import { leastIdAt } from '#test/bench/flow/read-times.ts'
import { implausible } from '#test/helpers/implausible.ts'

const weights = { asynchronous: 2, synchronous: 1, batch: 1, link: 1, render: 1, list: 1 }
const workload: FlowWorkload = {
  gateways: 2,
  ledgers: 2,
  standIns: { workers: 2, slots: 2, captureMs: 1 },
  accounts: 3,
  rows: 20,
  waiting: 10_000,
  probes: 2,
  warmCaptures: 1,
  load: { clients: 2, captures: 9, weights, batchUrls: 3, pollMs: 20, turnMs: 60_000 },
}

t.test('bench: what carries captures is plausible, and no capture is lost', async (t) => {
  let profiled = 0
  const flow = await measureFlow(workload, async (carrier, measured) => {
    profiled += 1
    t.equal(measured.cost.statements !== undefined, carrier.countsStatements)
    const profile = await readProfile(carrier, measured)
    const { tables = [], statements = [] } = profile ?? {}
    if (profile) t.match(profileText(profile), /change_captures(?:.*\n)*\| webhook_delivery \| [1-9]/)
    const wal = tables.reduce((sum, { rows, indexes, toast, locks }) => sum + rows + indexes + toast + locks, 0)
    t.ok(profile === undefined || (wal > 1000 && wal < measured.cost.walBytes), `${wal} bytes of WAL`)
    t.equal(statements.length > 5, carrier.countsStatements)
  })
  t.equal(profiled, 1)
  // Processor time is counted in hundredths of a second, transactions once a second, and the least commit takes less than a millisecond.
  t.strictSame(implausible(flow, /cpuMs|commitMs|walPageBytes|transactions/), [])
  t.strictSame(lossesIn(flow), [])
  const { clients, times, ended } = flow
  const { asynchronous, synchronous, batch, link, render } = clients.turns
  t.equal(clients.accepted, asynchronous + synchronous + link + render + 3 * batch)
  t.ok(times.captures >= workload.load.captures && ended >= times.captures)
  for (const kind of Object.keys(weights) as (keyof typeof weights)[]) t.ok(clients.turns[kind] > 0, kind)
  const parts = [
    'gateway',
    'PostgreSQL',
    'NATS',
    'ledger',
    'webhooks',
    'receivers',
    'controller',
    'stand-ins',
    'clients',
  ]
  t.strictSame([...flow.cost.cpuMs.keys()], parts)
  t.match(
    flowText('Introduction.', [{ name: 'small', flow }]),
    /^Introduction\.\n\n(?:\|.*\n){3}\n(?:\|.*\n){3}\n(?:\|.*\n){3}$/,
  )

  t.strictSame(
    [...flow.memory.keys()].toSorted(),
    parts.filter((part) => part !== 'stand-ins' && part !== 'clients').toSorted(),
  )
  t.match(waitingText([{ name: 'small', flow }]), /\| small \| \d+ \/ \d+ (?:\| \d+ → \d+ ){6}\|/)

  t.test('a capture that is lost on the way is found', (t) => {
    const broken = [
      { clients: { ...clients, accepted: clients.accepted + 1 }, times },
      { clients: { ...clients, completed: clients.completed - 1 }, times },
      { clients, times: { ...times, captures: times.captures + 1 } },
      { clients, times: { ...times, completed: times.completed - 1 } },
      { clients, times: { ...times, deliveries: times.deliveries + 1 } },
      { clients, times: { ...times, delivered: times.delivered - 1 } },
    ]
    for (const each of broken) t.not(lossesIn(each).length, 0)
    t.end()
  })
})

t.test('bench: what captures leave in tables and streams is plausible', async (t) => {
  const disk = await measureDisk({ ...workload, gateways: 1, ledgers: 1, rows: 0, waiting: 0, probes: 0 })
  t.strictSame(implausible(disk), [])
  const rows = (name: string) => disk.tables.find((each) => each.name === name)?.rows
  t.strictSame(['capture', 'webhook_delivery', 'capture_ended'].map(rows), [1, 1, undefined])
  t.match(diskText(disk), /\| capture \|(?:.*\n)*\| CAPTURES, while it waits \| [\d,]+ \|\n$/)
})

t.test('bench: filling leaves as many rows of each account as were asked for, counted, and all indexes', async (t) => {
  const postgres = await startPostgres(t)
  const database = await postgres.createDatabase()
  const accountIds = (await createClients(database, 2)).map(({ accountId }) => accountId)
  const readIndexes = () =>
    database.query(`select pg_get_indexdef(indexrelid) as definition, indisvalid as valid
      from pg_index i join pg_class c on c.oid = i.indrelid where not c.relispartition and c.relnamespace = 'public'::regnamespace order by 1`)
  const before = await readIndexes()
  await fillCaptures(database, { accountIds, rows: 20, newestDays: 1, oldestDays: 9 })
  const read = `select count(*)::integer as rows, min(created_at) >= now() - interval '9 days 1 minute'
      and max(created_at) <= now() - interval '1 day' as "inTime",
      (select sum(completed)::integer from capture_count n where n.account_id = c.account_id) as counted
    from capture c group by account_id`
  t.strictSame(
    await database.query(read),
    accountIds.map(() => ({ rows: 10, inTime: true, counted: 10 })),
  )
  t.strictSame(await readIndexes(), before)
})

t.test('bench: a load that requests no capture is refused', async (t) => {
  const none = { asynchronous: 0, synchronous: 0, batch: 0, link: 0, render: 0, list: 1 }
  await t.rejects(runClients({ ...workload.load, weights: none, ports: [], accounts: [] }), {
    message: /no kind of client/,
  })
})

t.test('bench: each gateway signs addresses of images for itself, so that images spread over all', (t) => {
  const receivers = { egressPort: 1, certPath: '' }
  const places = { databaseUrl: '', natsUrl: () => '', folder: '/', objectsPorts: [10, 11], receivers }
  const ports = carrierSettings(places).gateways.map((each) => [
    each['GATEWAY_OBJECTS_PORT'],
    each['STORAGE_FILES_URL'],
  ])
  const expected = [
    ['10', 'http://127.0.0.1:10'],
    ['11', 'http://127.0.0.1:11'],
  ]
  t.strictSame(ports, expected)
  t.end()
})

t.test('bench: kinds of clients are mixed evenly', (t) => {
  const kinds = mixKinds({ asynchronous: 4, synchronous: 2, batch: 0, link: 0, render: 0, list: 0 })
  t.strictSame(kinds, ['asynchronous', 'synchronous', 'asynchronous', 'asynchronous', 'synchronous', 'asynchronous'])
  t.end()
})

t.test('bench: ids of captures of a millisecond are not less than its least id', (t) => {
  t.equal(leastIdAt(Date.parse('2026-01-01T00:00:00Z')), '019b76da-a800-7000-8000-000000000000')
  t.ok(leastIdAt(1000) < leastIdAt(1001))
  t.end()
})
