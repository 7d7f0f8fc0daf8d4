import t from 'tap'
import { classifyWorkers } from '#controller/decide/worker-groups.ts'
import {
  blankMemory,
  type Decision,
  type Observation,
  type PoolMemory,
  type PoolPolicy,
  type ObservedWorker,
} from '#controller/decide/pool.ts'
import { scale, scaleUp, type DesiredSize } from '#controller/decide/scale.ts'
import {
  justStarted as starting,
  poolPolicy,
  observedWorkers as groups,
  observedPool,
  observedWorker as worker,
  stuckWorkers as stuckOnes,
} from '#test/helpers/observed-pool.ts'

const { nowMs } = observedPool()

type Case = {
  name: string
  workers: ObservedWorker[]
  refused?: Observation['refused']
  desired: number
  reason?: DesiredSize['reason']
  /** A larger size that was required within the hold window. */
  held?: number
  policy?: Partial<PoolPolicy>
  memory?: Partial<PoolMemory>
  want:
    | Omit<Extract<Decision, { kind: 'scale-up' }>, 'desired'>
    | WithoutWanted<Exclude<Decision, { kind: 'scale-up' }>>
}
type WithoutWanted<D> = D extends unknown ? Omit<D, 'desired'> : never

const momentOf = ({ workers, refused, desired, held, policy: rules, memory: before }: Omit<Case, 'name' | 'want'>) => {
  const policy = poolPolicy(rules)
  const older = held === undefined ? [] : [{ atMs: nowMs - 1000, size: held }]
  const sizes = [...older, { atMs: nowMs, size: desired }]
  const memory = { ...blankMemory, wants: sizes, loads: sizes, lastKnownMs: nowMs, ...before }
  return {
    observation: observedPool({ workers, refused }),
    policy,
    memory,
    groups: classifyWorkers(workers, policy, memory.failures),
  }
}

const cases: Case[] = [
  {
    name: 'starts what is missing at once',
    workers: groups(1),
    desired: 9,
    want: { kind: 'scale-up', to: 9, undrain: [], reason: 'load' },
  },
  {
    name: 'undrains workers before it starts new ones',
    workers: [worker('w1', { state: 'draining', busy: 1 }), worker('w2', { state: 'drained' })],
    desired: 4,
    want: { kind: 'scale-up', to: 4, undrain: ['w1', 'w2'], reason: 'load' },
  },
  {
    name: 'starts no worker if undraining is enough',
    workers: [worker('w1', { state: 'drained' }), worker('w2', { state: 'drained' })],
    desired: 1,
    want: { kind: 'scale-up', to: 2, undrain: ['w1'], reason: 'load' },
  },
  {
    name: 'retries one start at a time after the wait',
    workers: [],
    desired: 9,
    memory: { failures: 3, retryAtMs: nowMs },
    want: { kind: 'scale-up', to: 1, undrain: [], reason: 'crash-looping' },
  },
  {
    name: 'waits before it retries a start',
    workers: [],
    desired: 9,
    memory: { failures: 3, retryAtMs: nowMs + 1 },
    want: { kind: 'hold', reason: 'crash-looping' },
  },
  {
    name: 'waits for the one start it is retrying',
    workers: [worker('w1', starting)],
    desired: 3,
    memory: { failures: 3, retryAtMs: nowMs - 1 },
    want: { kind: 'hold', reason: 'crash-looping' },
  },
  {
    name: 'undrains workers while starts fail',
    workers: [worker('w1', { state: 'drained' })],
    desired: 3,
    memory: { failures: 3, retryAtMs: nowMs + 1 },
    want: { kind: 'scale-up', to: 1, undrain: ['w1'], reason: 'crash-looping' },
  },
  {
    name: 'starts no worker in addition to stuck ones',
    workers: stuckOnes(10),
    desired: 10,
    reason: 'at-maximum',
    want: { kind: 'hold', reason: 'unschedulable' },
  },
  {
    name: 'starts no worker in addition to refused ones',
    workers: groups(1),
    refused: { count: 2, trouble: 'quota' },
    desired: 3,
    want: { kind: 'hold', reason: 'quota' },
  },
  {
    name: 'starts what is missing besides stuck and refused ones, and counts all of them',
    workers: [...groups(3), ...stuckOnes(2)],
    refused: { count: 1, trouble: 'quota' },
    desired: 10,
    want: { kind: 'scale-up', to: 10, undrain: [], reason: 'load' },
  },
  {
    name: 'undrains workers even if stuck ones would be enough',
    workers: [worker('w1', { state: 'drained' }), ...stuckOnes(1)],
    desired: 1,
    want: { kind: 'scale-up', to: 2, undrain: ['w1'], reason: 'load' },
  },
  {
    name: 'reports one of several troubles, always the same',
    workers: [...stuckOnes(1, { trouble: 'image-pull' }), ...stuckOnes(1)],
    refused: { count: 1, trouble: 'quota' },
    desired: 3,
    want: { kind: 'hold', reason: 'unschedulable' },
  },
  {
    name: 'stops stuck workers before it drains others',
    workers: [...groups(3), ...stuckOnes(2)],
    desired: 1,
    want: { kind: 'stop', pods: ['s1', 's2'], reason: 'excess' },
  },
  {
    name: 'stops only as many stuck workers as are in excess',
    workers: [worker('w1'), ...stuckOnes(4)],
    desired: 1,
    held: 3,
    want: { kind: 'stop', pods: ['s1', 's2'], reason: 'excess' },
  },
  {
    name: 'stops excess stuck workers although ready ones are missing',
    workers: [worker('w1'), ...stuckOnes(4)],
    desired: 3,
    want: { kind: 'stop', pods: ['s1', 's2'], reason: 'excess' },
  },
  {
    name: 'holds stuck workers for the hold window',
    workers: [worker('w1'), ...stuckOnes(2)],
    desired: 1,
    held: 3,
    want: { kind: 'hold', reason: 'holding' },
  },
  {
    name: 'withdraws refused workers that are not required',
    workers: groups(2),
    refused: { count: 3, trouble: 'pods-refused' },
    desired: 2,
    want: { kind: 'stop', pods: [], reason: 'excess' },
  },
  {
    name: 'withdraws refused workers only all together',
    workers: groups(2),
    refused: { count: 3, trouble: 'pods-refused' },
    desired: 3,
    want: { kind: 'hold', reason: 'pods-refused' },
  },
  {
    name: 'withdraws refused workers before it stops stuck ones',
    workers: [worker('w1'), ...stuckOnes(3)],
    refused: { count: 2, trouble: 'quota' },
    desired: 3,
    want: { kind: 'stop', pods: ['s1'], reason: 'excess' },
  },
  {
    name: 'stops exactly the drained workers',
    workers: [worker('w1'), worker('w2', { state: 'drained' }), worker('w3', { state: 'draining', busy: 1 })],
    desired: 1,
    want: { kind: 'stop', pods: ['w2'], reason: 'drained' },
  },
  {
    name: 'stops stuck workers with drained ones, even within the hold window',
    workers: [worker('w1'), worker('w2', { state: 'drained' }), ...stuckOnes(1)],
    desired: 1,
    held: 9,
    want: { kind: 'stop', pods: ['s1', 'w2'], reason: 'drained' },
  },
  {
    name: 'stops drained workers, and no stuck ones with them, while others are starting',
    workers: [worker('w1', starting), worker('w2', { state: 'drained' }), ...stuckOnes(1)],
    desired: 1,
    want: { kind: 'stop', pods: ['w2'], reason: 'drained' },
  },
  {
    name: 'stops no stuck worker while others are starting',
    workers: [worker('w1', starting), ...stuckOnes(1)],
    desired: 1,
    want: { kind: 'hold', reason: 'holding' },
  },
  {
    name: 'holds the right size',
    workers: groups(2),
    desired: 2,
    want: { kind: 'hold', reason: 'steady' },
  },
  {
    name: 'holds the largest size that was required within the window',
    workers: groups(4),
    desired: 1,
    held: 4,
    want: { kind: 'hold', reason: 'holding' },
  },
  {
    name: 'drains what exceeds the largest size within the window',
    workers: groups(4),
    desired: 1,
    held: 3,
    want: { kind: 'drain', pods: ['w1'], reason: 'excess' },
  },
  {
    name: 'scales down to a lowered maximum without waiting for the hold window',
    workers: groups(10),
    desired: 1,
    held: 10,
    policy: { max: 5 },
    want: { kind: 'drain', pods: ['w1', 'w2'], reason: 'excess' },
  },
  {
    name: 'exceeds the maximum for a fixed size',
    workers: groups(3),
    desired: 3,
    reason: 'fixed',
    policy: { size: 3, max: 2 },
    want: { kind: 'hold', reason: 'fixed' },
  },
  {
    name: 'does not drain while workers that were just requested are starting, of which Kubernetes would remove one instead',
    workers: [...groups(4), worker('w5', starting)],
    desired: 1,
    memory: { lastGrowthMs: nowMs - 2999 },
    want: { kind: 'hold', reason: 'starting' },
  },
  {
    name: 'drains while other workers are starting, as in a large pool some always are',
    workers: [...groups(4), worker('w5', starting)],
    desired: 1,
    memory: { lastGrowthMs: nowMs - 3001 },
    want: { kind: 'drain', pods: ['w1'], reason: 'excess' },
  },
  {
    name: 'keeps the buffer of an idle pool',
    workers: groups(3),
    desired: 3,
    reason: 'buffer',
    policy: { buffer: 3 },
    memory: { lastKnownMs: nowMs - 9_000_000, loads: [] },
    want: { kind: 'hold', reason: 'steady' },
  },
  {
    name: 'keeps a difference that may be chance for the long hold window',
    workers: groups(30),
    desired: 26,
    policy: { max: 40 },
    memory: {
      loads: [
        { atMs: nowMs - 1_700_000, size: 30 },
        { atMs: nowMs - 1000, size: 27 },
      ],
    },
    want: { kind: 'hold', reason: 'holding' },
  },
  {
    name: 'removes also what may be chance after the long hold window',
    workers: groups(30),
    desired: 29,
    policy: { max: 40 },
    memory: {
      loads: [
        { atMs: nowMs - 1_800_000, size: 30 },
        { atMs: nowMs - 1000, size: 29 },
      ],
    },
    want: { kind: 'drain', pods: ['w1'], reason: 'excess' },
  },
  {
    name: 'does not drain a worker that a starting one would have to replace',
    workers: [...groups(3), ...['w4', 'w5'].map((pod) => worker(pod, starting))],
    desired: 1,
    held: 3,
    want: { kind: 'hold', reason: 'starting' },
  },
  {
    name: 'stops unscheduled workers first, even while others are starting',
    workers: [...groups(4), worker('w5', starting), worker('w6', { state: 'unscheduled' })],
    desired: 1,
    held: 4,
    want: { kind: 'stop', pods: ['w6'], reason: 'excess' },
  },
  {
    name: 'waits between two drain steps',
    workers: groups(4),
    desired: 1,
    memory: { lastDrainMs: nowMs - 4999 },
    want: { kind: 'hold', reason: 'stepping' },
  },
  {
    name: 'drains a quarter of many workers in one step',
    workers: groups(9),
    desired: 1,
    memory: { lastDrainMs: nowMs - 5000 },
    want: { kind: 'drain', pods: ['w1', 'w2'], reason: 'excess' },
  },
  {
    name: 'drains idle workers first, the youngest of them before others',
    workers: [worker('busy', { busy: 1 }), worker('old', { ageMs: 900_000 }), worker('young', { ageMs: 20_000 })],
    desired: 1,
    want: { kind: 'drain', pods: ['young'], reason: 'excess' },
  },
  {
    name: 'drains all but the last worker until zeroAfterMs has passed',
    workers: groups(2),
    desired: 0,
    policy: { min: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs - 599_999 },
    want: { kind: 'drain', pods: ['w1'], reason: 'excess' },
  },
  {
    name: 'keeps the last worker until none was required for zeroAfterMs',
    workers: groups(1),
    desired: 0,
    policy: { min: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs - 599_999 },
    want: { kind: 'hold', reason: 'holding' },
  },
  {
    name: 'drains the last worker after zeroAfterMs',
    workers: groups(1),
    desired: 0,
    policy: { min: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs - 600_000 },
    want: { kind: 'drain', pods: ['w1'], reason: 'excess' },
  },
  {
    name: 'keeps the last worker for the hold window if it is longer',
    workers: groups(1),
    desired: 0,
    held: 1,
    policy: { min: 0, zeroAfterMs: 500 },
    memory: { lastKnownMs: nowMs - 1000 },
    want: { kind: 'hold', reason: 'holding' },
  },
  {
    name: 'starts no worker to keep a last one',
    workers: [],
    desired: 0,
    policy: { min: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs - 1000 },
    want: { kind: 'hold', reason: 'steady' },
  },
  {
    name: 'drains the last worker of a fixed size of zero at once',
    workers: groups(1),
    desired: 0,
    reason: 'fixed',
    policy: { size: 0, min: 0, zeroAfterMs: 600_000 },
    memory: { lastKnownMs: nowMs },
    want: { kind: 'drain', pods: ['w1'], reason: 'excess' },
  },
]

for (const of of cases) {
  t.test(`scale: ${of.name}`, (t) => {
    const decision = scale(momentOf(of), { desired: of.desired, reason: of.reason ?? 'load' })
    t.strictSame(decision, { desired: of.desired, ...of.want })
    t.end()
  })
}

t.test('scale: removes no worker when scaling up', (t) => {
  const moment = momentOf({ workers: [worker('w1'), ...stuckOnes(4)], desired: 3 })
  t.match(scaleUp(moment, { desired: 3, reason: 'below-minimum' }), { kind: 'hold', reason: 'unschedulable' })
  t.end()
})
