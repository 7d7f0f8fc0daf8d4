import t from 'tap'
import { classifyWorkers, isSubscriptionSuspect, replaceableOf } from '#controller/decide/worker-groups.ts'
import type { ObservedWorker } from '#controller/decide/pool.ts'
import {
  justStarted,
  poolPolicy,
  observedWorkers,
  observedWorker as worker,
  stuckWorkers,
} from '#test/helpers/observed-pool.ts'

const policy = poolPolicy()
const podNames = (workers: readonly ObservedWorker[]) => workers.map(({ pod }) => pod)

t.test('worker groups: workers are classified by their capacity', (t) => {
  const all = [
    worker('ready'),
    worker('starting', justStarted),
    worker('draining', { state: 'draining', busy: 1 }),
    worker('drained', { state: 'drained' }),
    worker('stopping', { state: 'stopping', silentMs: 99_000 }),
    worker('stuck', { state: 'stuck', trouble: 'quota', silentMs: 99_000, ageMs: 900_000 }),
    worker('hung', { silentMs: 10_001 }),
    worker('late', { state: 'starting', ageMs: 60_001, silentMs: 60_001 }),
  ]
  const groups = classifyWorkers(all, policy, 0)
  t.equal(groups.present, 7, 'all but the terminating one')
  t.strictSame(podNames(groups.active), ['ready', 'starting'])
  t.strictSame(podNames(groups.starting), ['starting'])
  t.strictSame(podNames(groups.stuck), ['stuck'])
  t.strictSame(podNames(groups.leaving), ['draining', 'drained'])
  t.strictSame(podNames(groups.lost), ['hung', 'late'])
  t.strictSame(
    podNames(classifyWorkers(all, policy, 1).active),
    ['ready'],
    'starting workers do not count while starts fail',
  )
  t.strictSame(podNames(classifyWorkers(all, { ...policy, startLimitMs: Infinity, startMaxMs: Infinity }, 0).lost), [
    'hung',
  ])
  t.end()
})

t.test(
  'worker groups: each failed start doubles the start limit; a worker that sends heartbeats has 15 minutes',
  async (t) => {
    const silent = (ms: number) => worker(String(ms), { state: 'starting', ageMs: ms, silentMs: ms })
    const reporting = (ms: number) => worker(`r${ms}`, { state: 'starting', ageMs: ms })
    const all = [60_001, 120_001, 240_001, 900_001].map(silent)
    const lostAfter = (failures: number) => podNames(classifyWorkers(all, policy, failures).lost)
    t.strictSame(lostAfter(0), ['60001', '120001', '240001', '900001'])
    t.strictSame(lostAfter(1), ['120001', '240001', '900001'])
    t.strictSame(lostAfter(2), ['240001', '900001'])
    t.strictSame(lostAfter(20), ['900001'])
    t.strictSame(podNames(classifyWorkers([reporting(899_000), reporting(900_001)], policy, 0).lost), ['r900001'])
  },
)

t.test('worker groups: unscheduled workers are future capacity, unless starts fail', async (t) => {
  const all = [worker('ready'), worker('pending', { state: 'unscheduled', silentMs: 99_000, ageMs: 200_000 })]
  const groups = classifyWorkers(all, policy, 0)
  t.strictSame(podNames(groups.active), ['ready', 'pending'])
  t.strictSame(podNames(groups.unscheduled), ['pending'])
  t.strictSame(groups.lost, [])
  t.strictSame(podNames(classifyWorkers(all, policy, 1).active), ['ready'])
})

const hung = (count: number, silentMs = 11_000) => observedWorkers(count, { silentMs })

for (const { name, workers, want } of [
  { name: 'one silent worker is hung', workers: hung(1), want: false },
  { name: 'failed when two of three are silent', workers: [worker('w'), ...hung(2)], want: true },
  { name: 'fine when as many workers report', workers: [worker('v'), worker('w'), ...hung(2)], want: false },
  { name: 'failed for no longer than thirty seconds', workers: hung(2, 30_000), want: false },
  {
    name: 'failed when the others have missed two heartbeats',
    workers: [...hung(2), ...['v', 'w', 'x'].map((pod) => worker(pod, { silentMs: 9000 }))],
    want: true,
  },
  {
    name: 'stuck and starting workers do not count as reporting',
    workers: [worker('w'), ...hung(2), ...stuckWorkers(5), worker('x', justStarted)],
    want: true,
  },
  {
    name: 'stuck workers and late starts do not count as silent',
    workers: [worker('w'), ...stuckWorkers(5, { silentMs: 11_000 }), worker('x', { state: 'starting', ageMs: 61_000 })],
    want: false,
  },
]) {
  t.test(`own subscription: ${name}`, (t) => {
    t.equal(isSubscriptionSuspect(classifyWorkers(workers, policy, 0)), want)
    t.end()
  })
}

const lostNode = { silentMs: 11_000, isNodeLost: true }
const classifyAll = (workers: readonly ObservedWorker[], suspectMs = Infinity) =>
  podNames(replaceableOf(classifyWorkers(workers, policy, 0), { replaceMs: Infinity, suspectMs }))

for (const { name, workers, want } of [
  {
    name: 'all workers on a lost node are replaced at once',
    workers: observedWorkers(4, lostNode),
    want: ['w1', 'w2', 'w3', 'w4'],
  },
  {
    name: 'workers on a lost node are replaced without waiting for other silent ones',
    workers: [...observedWorkers(1, lostNode), ...['x', 'y', 'z'].map((pod) => worker(pod, { silentMs: 11_000 }))],
    want: ['w1'],
  },
  {
    name: 'a worker that had not started on a lost node is replaced too',
    workers: [
      worker('v'),
      worker('s', { ...lostNode, state: 'starting' }),
      worker('u', { ...lostNode, state: 'stuck' }),
    ],
    want: ['s', 'u'],
  },
  {
    name: 'a worker that reports is not lost, whatever the state of its node',
    workers: observedWorkers(4, { silentMs: 9000, isNodeLost: true }),
    want: [],
  },
])
  t.test(`replaceable workers: ${name}`, async (t) => void t.strictSame(classifyAll(workers), want))

t.test('replaceable workers: silent workers have time to report if most were silent just before', async (t) => {
  const workers = [worker('v'), worker('w'), ...observedWorkers(1, { silentMs: 25_000 })]
  t.strictSame(classifyAll(workers, 4999), [])
  t.strictSame(classifyAll(workers, 5000), ['w1'])
  t.strictSame(classifyAll([...workers, worker('n', lostNode)], 0), ['n'])
})
