import t from 'tap'
import type { ReceivedHeartbeat } from '#controller/loop/subscribe-to-pool.ts'
import { createJobReports } from '#controller/proxied/job-reports.ts'
import type { JobList, ListedJob } from '#controller/proxied/job-runner.ts'
import { createProxiedObserver, type ProxiedObserverDeps } from '#controller/proxied/observe-proxied.ts'
import type { HeartbeatMessage } from '#shared/queue/messages.ts'
import { ackWaitSeconds } from '#shared/queue/topology.ts'

const ackWaitMs = ackWaitSeconds * 1000

const job = (name: string, given: Partial<ListedJob> = {}): ListedJob => ({
  name,
  ageMs: 1000,
  revision: 'r',
  ...given,
})
const listWorkers = (...jobs: ListedJob[]): JobList => ({ jobs, unclaimed: [], failed: 0, last: undefined })
const trouble = { reason: 'image-pull', message: 'x', forMs: 10 } as const

const begin = (given: Partial<ProxiedObserverDeps> & { list?: JobList } = {}) => {
  const clock = { nowMs: 100_000 }
  const now = () => clock.nowMs
  const reports = createJobReports(now)
  const heartbeats = new Map<string, ReceivedHeartbeat>()
  const heartbeat = (pod: string, state: HeartbeatMessage['state'], captures: string[] = []) => {
    const message = { pod, pool: 'proxied', pid: 1, slots: 1, busy: captures.length, state, captures } as const
    heartbeats.set(pod, { heartbeat: message, atMs: now() })
    reports.heartbeat(message)
  }
  const observe = createProxiedObserver({
    runner: { list: async () => given.list ?? listWorkers() },
    reports,
    subscription: { backlog: () => 'unknown', heartbeats, listeningMs: (fromMs) => now() - fromMs },
    readDepth: async () => ({ waiting: 1, inFlight: 2 }),
    now,
    ...given,
  })
  const statesOf = async () => {
    const { jobs } = await observe()
    return jobs === 'unknown' ? jobs : Object.fromEntries(jobs.map(({ name, state }) => [name, state]))
  }
  return { observe, statesOf, reports, heartbeat, clock }
}

t.test('observe proxied: derives the states of Jobs from their runner and from reports of their workers', async (t) => {
  const list = listWorkers(
    ...['coming', 'idle', 'serving', 'spent', 'expired'].map((name) => job(name)),
    job('stuck', { trouble }),
    job('up after all', { trouble }),
    job('labelled', { captureId: 'c0' }),
    job('stop requested', { worker: 'stopping' }),
    job('stop requested, serving', { worker: 'stopping' }),
    job('ended, idle', { worker: 'ended' }),
    job('ended, serving', { worker: 'ended' }),
  )
  const { statesOf, heartbeat } = begin({ list })
  for (const name of ['idle', 'up after all', 'ended, idle', 'stop requested']) heartbeat(name, 'ready')
  for (const name of ['serving', 'spent', 'stop requested, serving', 'ended, serving'])
    heartbeat(name, 'ready', [`of ${name}`])
  heartbeat('spent', 'drained')
  heartbeat('expired', 'ready')
  heartbeat('expired', 'drained')
  t.strictSame(await statesOf(), {
    coming: 'coming',
    idle: 'idle',
    serving: 'serving',
    spent: 'spent',
    expired: 'leaving',
    stuck: 'stuck',
    'up after all': 'idle',
    labelled: 'serving',
    'stop requested': 'leaving',
    'stop requested, serving': 'serving',
    'ended, idle': 'leaving',
    'ended, serving': 'spent',
  })
})

t.test(
  'observe proxied: a worker is lost once it was silent for longer than its capture is reserved for it',
  async (t) => {
    const list = listWorkers(
      job('idle'),
      job('serving'),
      job('coming'),
      job('labelled', { captureId: 'c', ageMs: ackWaitMs + 1000 }),
    )
    const { statesOf, heartbeat, clock } = begin({ list })
    heartbeat('idle', 'ready')
    heartbeat('serving', 'ready', ['c'])
    clock.nowMs += ackWaitMs
    t.match(await statesOf(), { idle: 'idle', serving: 'serving', labelled: 'lost' })
    clock.nowMs += 1
    t.strictSame(await statesOf(), { idle: 'lost', serving: 'lost', coming: 'coming', labelled: 'lost' })
    heartbeat('idle', 'ready')
    t.match(await statesOf(), { idle: 'idle' })
  },
)

t.test('observe proxied: no worker is lost while the subscription has failed', async (t) => {
  const { statesOf, heartbeat, clock } = begin({
    list: listWorkers(job('a')),
    subscription: { backlog: () => 'unknown', heartbeats: new Map(), listeningMs: () => 0 },
  })
  heartbeat('a', 'ready')
  clock.nowMs += 60_000
  t.strictSame(await statesOf(), { a: 'idle' })
})

t.test('observe proxied: lists the Jobs before it reads the depth', async (t) => {
  const calls: string[] = []
  const { observe, heartbeat } = begin({
    runner: {
      list: async () => {
        calls.push('list')
        return listWorkers(job('a'))
      },
    },
    readDepth: async () => {
      calls.push('depth')
      heartbeat('a', 'ready', ['c'])
      return { waiting: 0, inFlight: 1 }
    },
  })
  t.match(await observe(), { jobs: [{ state: 'coming' }], depth: { waiting: 0, inFlight: 1 } })
  t.strictSame(calls, ['list', 'depth'])
})

t.test('observe proxied: returns claims that are not recorded yet, also of Jobs that have ended', async (t) => {
  const list = { ...listWorkers(job('a'), job('b', { captureId: 'of b' })), unclaimed: [{ name: 'c' }] }
  const { observe, heartbeat } = begin({ list })
  for (const name of ['a', 'b', 'c', 'unknown']) heartbeat(name, 'ready', [`of ${name}`])
  t.strictSame((await observe()).claims, [
    { job: 'a', captureId: 'of a' },
    { job: 'c', captureId: 'of c' },
  ])
})

t.test('observe proxied: counts workers that became ready and starts that failed', async (t) => {
  const last = { reason: 'quota', message: 'x' } as const
  const { observe, heartbeat } = begin({ list: { ...listWorkers(job('a')), failed: 2, last } })
  heartbeat('a', 'ready')
  heartbeat('a', 'ready', ['c'])
  heartbeat('b', 'ready')
  t.strictSame((await observe()).starts, { ready: 2, failed: 2, last })
})

t.test('observe proxied: a failed read is unknown', async (t) => {
  const broken = async () => {
    throw new Error('planted')
  }
  t.match(await begin({ runner: { list: broken } }).observe(), { jobs: 'unknown', depth: { waiting: 1 }, claims: [] })
  t.match(await begin({ readDepth: broken }).observe(), { jobs: [], depth: 'unknown' })
})

t.test('observe proxied: a read that times out is unknown, and its late result is discarded', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ waiting: number; inFlight: number }>()
  let reads = 0
  const readDepth = () => {
    reads += 1
    return promise
  }
  const { observe } = begin({ readDepth })
  t.equal((await observe()).depth, 'unknown')
  t.equal((await observe()).depth, 'unknown')
  t.equal(reads, 1)
  resolve({ waiting: 9, inFlight: 9 })
  await promise
  await new Promise((wake) => setImmediate(wake))
  t.strictSame((await observe()).depth, { waiting: 9, inFlight: 9 })
  t.equal(reads, 2, 'a depth read before the Jobs is never used')
})
