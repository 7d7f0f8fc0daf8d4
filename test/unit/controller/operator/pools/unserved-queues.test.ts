import t from 'tap'
import { emptyBacklog } from '#controller/decide/pool.ts'
import {
  createUnservedQueues,
  type UnservedQueuesDeps,
  unservedReason,
} from '#controller/operator/pools/unserved-queues.ts'
import type { ReceivedHeartbeat } from '#controller/loop/subscribe-to-pool.ts'
import type { PoolStateMessage } from '#shared/queue/messages.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'
import type { WantedSpec } from '#test/helpers/operator-cluster.ts'

const paused: WantedSpec = { paused: true }
const fixedAt = (replicas: number): WantedSpec => ({ replicas, autoscaling: { enabled: false } })

for (const { name, specs, hasWorker = false, want } of [
  { name: 'no pool', specs: [], want: 'no-pool' },
  { name: 'a pool of another queue', specs: [{ pool: 'stealth' }], want: 'no-pool' },
  { name: 'no pool, but a worker', specs: [], hasWorker: true, want: undefined },
  { name: 'a pool', specs: [{}], want: undefined },
  { name: 'a paused pool', specs: [paused], want: 'paused' },
  { name: 'a paused pool with a worker', specs: [paused], hasWorker: true, want: undefined },
  { name: 'a paused pool and one that is not', specs: [paused, fixedAt(1)], want: undefined },
  { name: 'a pool of no replicas', specs: [fixedAt(0), paused], want: 'no-replicas' },
] satisfies { name: string; specs: WantedSpec[]; hasWorker?: boolean; want: string | undefined }[])
  t.test(`unserved queues: a queue that has ${name}: ${want ?? 'served'}`, async (t) => {
    const pools = specs.map((spec, index) => poolObject(`pool-${index}`, spec))
    t.equal(unservedReason('standard', pools, hasWorker), want)
  })

t.test('unserved queues: a queue of Jobs needs no replicas', async (t) => {
  const spec = { pool: 'proxied', ...fixedAt(0) } as const
  t.equal(unservedReason('proxied', [poolObject('proxied', spec)], false), undefined)
})

t.test(
  'unserved queues: the time without service counts without interruption or pause, and a silent worker does not serve',
  async (t) => {
    let nowMs = 0
    let isPaused = false
    const states: PoolStateMessage[] = []
    const reports: unknown[] = []
    const heartbeats = new Map<string, ReceivedHeartbeat>()
    const heartbeat = {
      pool: 'stealth',
      pod: 'w',
      pid: 1,
      state: 'ready',
      slots: 1,
      busy: 0,
      captures: [] as string[],
    } as const
    const deps: UnservedQueuesDeps = {
      clock: { nowMs: () => nowMs },
      forQueue: (queue) => ({
        heartbeats: queue === 'stealth' ? heartbeats : new Map(),
        backlog: () => ({ ...emptyBacklog, pending: 2 }),
      }),
      readDepth: async () => ({ waiting: 2, inFlight: 0, isPaused }),
      publish: (state) => states.push(state),
      checked: (queue, reason, waiting) => queue === 'stealth' && reports.push([reason, waiting]),
    }
    const look = createUnservedQueues(deps)
    const pools = [poolObject('standard'), poolObject('proxied', { pool: 'proxied' })]
    for (const atMs of [0, 1000, 2000, 3000, 11_999, 12_000, 14_000, 400_000, 401_000, 402_000]) {
      nowMs = atMs
      if (atMs === 2000) heartbeats.set('w', { heartbeat, atMs })
      isPaused = atMs === 14_000 || atMs === 400_000
      await look(pools)
    }
    const unserved = { pool: 'stealth', canStart: false, reason: 'no-pool' }
    t.strictSame(
      states,
      [0, 1000, 0, 0, 1000].map((forMs) => ({ ...unserved, forMs })),
    )
    t.strictSame(reports, [
      ['no-pool', 2],
      ['no-pool', 2],
      [undefined, 2],
      [undefined, 2],
      [undefined, 2],
      ...Array.from({ length: 5 }, () => ['no-pool', 2]),
    ])
  },
)
