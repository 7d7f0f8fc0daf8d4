import t from 'tap'
import type { Queue } from '#shared/queue/connection.ts'
import { manage } from '#shared/queue/stored.ts'
import { declareStreams, poolDepth } from '#shared/queue/streams.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createTestLedger, openQueue } from '#test/helpers/ledger.ts'
import { startNats, startNatsCluster } from '#test/helpers/nats.ts'
import { startPostgres } from '#test/helpers/postgres.ts'
import { accept, runUntilTeardown, queued, windowSize } from '#test/helpers/running-ledger.ts'
import { createTenant } from '#test/helpers/tenant.ts'

t.setTimeout(300_000)

const minuteMs = 60_000
const postgres = await startPostgres(t)

/** A cluster of three servers by name, its streams with `replicas` copies, and a URL that contains all servers. */
const startCluster = async (t: Parameters<typeof openQueue>[0], replicas: number) => {
  const servers = await startNatsCluster(t)
  const url = [...servers.values()].map((server) => server.url).join(',')
  const queue = await openQueue(t, url)
  const declared = () => declareStreams(queue, { replicas }).then(() => true)
  await eventually(declared, { withinMs: minuteMs, what: 'the streams are created' })
  return { servers, url, queue }
}

const infoOf = async (queue: Queue, name: string = capturesStream.name) => {
  const { streams } = await manage(queue)
  let info: Awaited<ReturnType<typeof streams.info>> | undefined
  const isRead = async () => (info = await streams.info(name)) !== undefined
  await eventually(isRead, { withinMs: minuteMs, what: 'the cluster responds, after electing a leader if necessary' })
  return info!
}

/**
 * A running ledger on a cluster, and captures that are stored in its stream. `onLeader`: whether the ledger is connected to the
 * server that leads the stream.
 */
const startWithCaptures = async (t: Parameters<typeof openQueue>[0], streamReplicas: number, onLeader = false) => {
  const cluster = await startCluster(t, streamReplicas || 3)
  const database = await postgres.createDatabase()
  const first = (await infoOf(cluster.queue)).cluster?.leader
  const [server] = [...cluster.servers].filter(([name]) => (name === first) === onLeader).map((each) => each[1])
  const ledger = createTestLedger(database, await openQueue(t, server!.url), { streamReplicas })
  await runUntilTeardown(t, ledger)
  const tenant = await createTenant(database)
  const captures: Awaited<ReturnType<typeof accept>>[] = []
  const acceptOne = async () => {
    captures.push(await accept({ database, tenant }))
    await database.query('update outbox set relay_at = now() where relay_at is not null')
    ledger.relayWakeup.notify()
  }
  for (let n = 1; n < windowSize; n += 1) await acceptOne()
  const allStored = async () =>
    (await Promise.all(captures.map((capture) => queued(cluster.queue, capture)))).every(Boolean)
  await eventually(allStored, { withinMs: minuteMs, what: 'the stream contains all captures' })
  const { cluster: { leader = '' } = {} } = await infoOf(cluster.queue)
  return { ...cluster, ledger, leader: cluster.servers.get(leader)!, allStored, acceptOne }
}

t.test(
  'stream replicas: three by default on a cluster, also for existing streams, and they survive the loss of a server',
  async (t) => {
    const { servers, url, queue } = await startCluster(t, 1)
    t.equal((await infoOf(queue)).config.num_replicas, 1)
    const own = await openQueue(t, `nats://127.0.0.1:1,${url}`)
    await declareStreams(own)
    for (const { name } of [capturesStream, resultsStream])
      t.equal((await infoOf(own, name)).config.num_replicas, 3, name)

    const { streams } = await manage(own)
    for (const { name } of [capturesStream, resultsStream]) await streams.delete(name)
    const declared = () => declareStreams(own).then(() => true)
    await eventually(declared, { withinMs: minuteMs, what: 'new streams are created' })
    t.equal((await infoOf(own)).config.num_replicas, 3, 'new streams have three')
    const [first] = servers.values()
    await first?.stop()
    const isThere = async () => (await poolDepth(own, 'standard')).waiting === 0
    await eventually(isThere, { withinMs: minuteMs, what: 'the other servers respond' })
    t.equal((await infoOf(own)).config.num_replicas, 3, 'still three')
  },
)

t.test(
  'stream replicas: a single server has one, and streams can be declared while one of three servers is down',
  async (t) => {
    const single = await startNats(t)
    const alone = await openQueue(t, single.url)
    await declareStreams(alone)
    t.equal((await infoOf(alone)).config.num_replicas, 1)

    const { servers, queue } = await startCluster(t, 1)
    const leaderOf = async (name: string) => (await infoOf(queue, name)).cluster?.leader
    const leaders = await Promise.all([capturesStream.name, resultsStream.name].map(leaderOf))
    // A stream of one replica is gone with its server.
    const other = [...servers].find(([name]) => !leaders.includes(name))
    await other?.[1].stop()
    const declared = () => declareStreams(queue).then(() => true)
    await eventually(declared, { withinMs: minuteMs, what: 'the streams are declared on the other servers' })
    t.ok((await infoOf(queue)).config.num_replicas >= 1)
  },
)

t.test('stream replicas: no capture is lost when a server loses its disk, and further ones are stored', async (t) => {
  const { leader, allStored, queue, ledger, acceptOne } = await startWithCaptures(t, 0)
  t.equal((await infoOf(queue)).config.num_replicas, 3)
  await leader.wipe()
  await acceptOne()
  await eventually(allStored, { withinMs: minuteMs, what: 'the stream contains all captures' })
  t.notOk(ledger.recordedEvents.some(([name]) => name === 'streamsMissing' || name === 'captureLost'))
})

for (const onLeader of [true, false]) {
  t.test(
    `stream replicas: a stream of one replica that its server lost is refilled within a minute by a ledger ${onLeader ? 'that was connected to this server' : 'on another server'}`,
    async (t) => {
      const { leader, allStored, queue, ledger } = await startWithCaptures(t, 1, onLeader)
      const checksBefore = ledger.recordedEvents.filter(([name]) => name === 'reportsUnread').length
      const hasChecked = () => ledger.recordedEvents.filter(([name]) => name === 'reportsUnread').length > checksBefore
      await eventually(hasChecked, { withinMs: minuteMs, what: 'the ledger has read the state of the stream' })
      await leader.wipe()
      await eventually(allStored, { withinMs: minuteMs, what: 'the stream contains all captures again' })
      t.match(
        ledger.recordedEvents.filter(([name]) => name === 'captureLost'),
        [['captureLost', windowSize - 1]],
      )
      t.ok(ledger.recordedEvents.some(([name]) => name === 'streamsLostMessages'))
      t.equal((await infoOf(queue)).state.messages, windowSize - 1)
    },
  )
}

void t.test('a server that two faults restart at once is restarted by one after the other', async (t) => {
  const server = await startNats(t)
  const first = server.pid
  await Promise.all([server.restart(), server.wipe()])
  t.not(server.pid, first)
  await openQueue(t, server.url)
})
