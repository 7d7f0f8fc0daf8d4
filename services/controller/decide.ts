import type { Decide, Decision, Observation, PoolMemory, PoolPolicy, Reason, SeenWorker } from './pool.ts'
import { needOf } from './staffing.ts'

/** A worker silent for longer is lost. */
const lostAfterMs = 10_000
/** A start that takes longer has failed. */
const startLimitMs = 60_000
/** For how long silence of most workers is taken for a fault of hearing. */
const deafForMs = 30_000
const firstRetryMs = 1000
const lastRetryMs = 60_000
/** Largest part of the active workers that one step down takes. */
const stepPart = 0.25

/** The workers that were not told to end, by what they are good for. */
type Crew = {
  readonly present: number
  /** Those that take work, and those that soon will: `starting` ones, unless starts have been failing. */
  readonly active: readonly SeenWorker[]
  readonly starting: readonly SeenWorker[]
  /** Told to take no more work; busy ones first to finish, idle ones `drained`. */
  readonly leaving: readonly SeenWorker[]
  readonly lost: readonly SeenWorker[]
}

type Sized = { readonly wanted: number; readonly reason: Reason }
type Moment = {
  readonly seen: Observation
  readonly policy: PoolPolicy
  readonly memory: PoolMemory
  readonly crew: Crew
}

const isLost = (worker: SeenWorker): boolean =>
  worker.state === 'starting' ? worker.ageMs > startLimitMs : worker.silentMs > lostAfterMs

const crewOf = (workers: readonly SeenWorker[], startsFail: boolean): Crew => {
  const present = workers.filter(({ state }) => state !== 'stopping')
  const well = present.filter((worker) => !isLost(worker))
  const starting = well.filter(({ state }) => state === 'starting')
  return {
    present: present.length,
    active: [...well.filter(({ state }) => state === 'ready'), ...(startsFail ? [] : starting)],
    starting,
    leaving: well.filter(({ state }) => state === 'draining' || state === 'drained'),
    lost: present.filter(isLost),
  }
}

/** One worker may hang; when most of several fall silent together, it is rather we who do not hear. */
const isDeaf = ({ present, starting, lost }: Crew): boolean => {
  const silent = lost.filter(({ state }) => state !== 'starting')
  const heard = present - starting.length - lost.length
  return silent.length > 1 && silent.length > heard && Math.min(...silent.map(({ silentMs }) => silentMs)) < deafForMs
}

/** Counts failed starts: each moment with one doubles the wait before the next, a start that succeeds ends the series. */
const followStarts = (memory: PoolMemory, { nowMs, starts }: Observation): PoolMemory => {
  if (starts.ready > memory.starts.ready) return { ...memory, starts, failures: 0, retryAtMs: nowMs }
  if (starts.failed === memory.starts.failed) return memory
  const waitMs = Math.min(lastRetryMs, firstRetryMs * 2 ** memory.failures)
  return { ...memory, starts, failures: memory.failures + 1, retryAtMs: nowMs + waitMs }
}

/** Adds a wanted size to the hold window; what is too old or will never again be the largest falls out. */
const remember = (memory: PoolMemory, policy: PoolPolicy, nowMs: number, size: number): PoolMemory => {
  const alive = (memory.wants ?? []).filter((want) => want.atMs > nowMs - policy.holdMs && want.size > size)
  return { ...memory, wants: [...alive, { atMs: nowMs, size }] }
}

const lastWanted = ({ wants }: PoolMemory): number => wants?.at(-1)?.size ?? 0

const clamp = (size: number, { min, max }: PoolPolicy) => Math.max(min, Math.min(max, size))

const wantedOf = ({ seen, policy, crew }: Moment, backlog: Exclude<Observation['backlog'], 'unknown'>): Sized => {
  const busy = [...crew.active, ...crew.leaving].reduce((sum, worker) => sum + worker.busy, 0)
  const need = needOf({ ...seen, backlog, active: crew.active, busy }, policy)
  return { wanted: clamp(need.workers, policy), reason: need.workers > policy.max ? 'at-maximum' : need.reason }
}

const scaleUp = ({ seen, memory, crew }: Moment, { wanted, reason }: Sized): Decision => {
  const missing = wanted - crew.active.length
  const undrain = crew.leaving.slice(0, missing).map(({ pod }) => pod)
  const starts = missing - undrain.length
  const { present } = crew
  if (memory.failures === 0 || starts === 0) return { kind: 'scale-up', to: present + starts, undrain, wanted, reason }
  const mayTry = seen.nowMs >= memory.retryAtMs && crew.starting.length === 0
  if (!mayTry && undrain.length === 0) return { kind: 'hold', wanted, reason: 'crash-looping' }
  return { kind: 'scale-up', to: present + (mayTry ? 1 : 0), undrain, wanted, reason: 'crash-looping' }
}

/** Idle ones first, among those the youngest: what has served for long is warm. */
const victims = (active: readonly SeenWorker[], count: number): string[] =>
  active
    .toSorted((a, b) => a.busy - b.busy || a.ageMs - b.ageMs)
    .slice(0, count)
    .map(({ pod }) => pod)

const scaleDown = ({ seen, policy, memory, crew }: Moment, { wanted, reason }: Sized): Decision => {
  const size = crew.active.length
  const held = Math.max(...(memory.wants ?? []).map((want) => want.size))
  if (size <= held) return { kind: 'hold', wanted, reason: size > wanted ? 'holding' : steadyOr(reason) }
  if (crew.starting.length > 0) return { kind: 'hold', wanted, reason: 'starting' }
  if (seen.nowMs < memory.lastDrainMs + policy.drainStepMs) return { kind: 'hold', wanted, reason: 'stepping' }
  const step = Math.max(1, Math.floor(size * stepPart))
  return { kind: 'drain', pods: victims(crew.active, Math.min(step, size - held)), wanted, reason: 'excess' }
}

const steadyOr = (reason: Reason): Reason => (reason === 'at-maximum' ? reason : 'steady')

const resize = (moment: Moment, wanted: Sized): Decision => {
  if (wanted.wanted > moment.crew.active.length) return scaleUp(moment, wanted)
  const drained = moment.crew.leaving.filter(({ state }) => state === 'drained')
  if (drained.length === 0) return scaleDown(moment, wanted)
  return { kind: 'stop', pods: drained.map(({ pod }) => pod), wanted: wanted.wanted, reason: 'drained' }
}

/**
 * The first row that fits decides.
 *
 * | Seen                                                        | Decision            | Reason                    |
 * |-------------------------------------------------------------|---------------------|---------------------------|
 * | the list of workers is unknown                              | freeze              | workers-unknown           |
 * | most of several workers silent over 10 s, under 30 s        | freeze              | missing-heartbeats        |
 * | a worker silent over 10 s, or starting over 60 s            | stop it             | lost                      |
 * | fewer active workers than the minimum                       | scale up            | below-minimum             |
 * | no backlog message for 5 s                                  | freeze              | backlog-unknown           |
 * | fewer than wanted                                           | scale up            | load, backlog, buffer, …  |
 * | … starts fail: wait 1, 2, 4 … 60 s, then one at a time      | hold, scale up      | crash-looping             |
 * | a worker drained                                            | stop it             | drained                   |
 * | not more than wanted within the hold window                 | hold                | steady, holding, at-max…  |
 * | more, but workers are starting                              | hold                | starting                  |
 * | more, but the last step down is too young                   | hold                | stepping                  |
 * | more                                                        | drain 1 or a fourth | excess                    |
 *
 * Scaling up first takes back workers that are leaving. Stopping never takes a worker that serves.
 */
export const decide: Decide = (seen, policy, before) => {
  const followed = followStarts(before, seen)
  if (seen.workers === 'unknown') {
    return { decision: { kind: 'freeze', wanted: lastWanted(before), reason: 'workers-unknown' }, memory: followed }
  }
  const crew = crewOf(seen.workers, followed.failures > 0)
  const size = crew.active.length
  const seeded = followed.wants ? followed : remember(followed, policy, seen.nowMs, size)
  const moment = { seen, policy, memory: seeded, crew }
  const of = (decision: Decision) => ({ decision, memory: seeded })

  if (isDeaf(crew)) return of({ kind: 'freeze', wanted: size, reason: 'missing-heartbeats' })
  if (crew.lost.length > 0) {
    return of({ kind: 'stop', pods: crew.lost.map(({ pod }) => pod), wanted: size, reason: 'lost' })
  }
  const minimum: Sized = { wanted: policy.min, reason: 'below-minimum' }
  if (seen.backlog === 'unknown') {
    if (size < policy.min) return of(scaleUp(moment, minimum))
    return of({ kind: 'freeze', wanted: size, reason: 'backlog-unknown' })
  }
  const wanted = wantedOf(moment, seen.backlog)
  const memory = remember(seeded, policy, seen.nowMs, wanted.wanted)
  const reasoned = wanted.wanted === policy.min && size < policy.min ? minimum : wanted
  const decision = resize({ ...moment, memory }, reasoned)
  return { decision, memory: decision.kind === 'drain' ? { ...memory, lastDrainMs: seen.nowMs } : memory }
}
