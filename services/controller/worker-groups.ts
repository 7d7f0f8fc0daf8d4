import type { PoolPolicy, SeenWorker } from './pool.ts'

/** A worker silent for longer is lost. */
const lostAfterMs = 10_000
/** For how long silence of most workers is taken for a fault of hearing. */
const deafForMs = 30_000

/** The workers that were not told to end, by what they are good for. */
export type Crew = {
  readonly present: number
  /** Those that take work, and those that will: unscheduled and starting ones, unless starts have been failing. */
  readonly active: readonly SeenWorker[]
  readonly unscheduled: readonly SeenWorker[]
  readonly starting: readonly SeenWorker[]
  readonly stuck: readonly SeenWorker[]
  /** Told to take no more work; busy ones first to finish, idle ones `drained`. */
  readonly leaving: readonly SeenWorker[]
  readonly lost: readonly SeenWorker[]
}

/** Sorts workers. `startsFail` tells that no starting one is to be counted on. */
export const crewOf = (workers: readonly SeenWorker[], policy: PoolPolicy, startsFail: boolean): Crew => {
  const isLost = ({ state, ageMs, silentMs, isNodeLost }: SeenWorker): boolean => {
    if (isNodeLost) return silentMs > lostAfterMs
    if (state === 'stuck' || state === 'unscheduled') return false
    return state === 'starting' ? ageMs > policy.startLimitMs : silentMs > lostAfterMs
  }
  const present = workers.filter(({ state }) => state !== 'stopping')
  const well = present.filter((worker) => !isLost(worker))
  const unscheduled = well.filter(({ state }) => state === 'unscheduled')
  const starting = well.filter(({ state }) => state === 'starting')
  return {
    present: present.length,
    active: [...well.filter(({ state }) => state === 'ready'), ...(startsFail ? [] : [...starting, ...unscheduled])],
    unscheduled,
    starting,
    stuck: well.filter(({ state }) => state === 'stuck'),
    leaving: well.filter(({ state }) => state === 'draining' || state === 'drained'),
    lost: present.filter(isLost),
  }
}

/** Whether a lost worker is certainly lost: nothing was ever heard of it, or Kubernetes has lost its node. */
const isCertain = ({ state, isNodeLost }: SeenWorker): boolean => state === 'starting' || isNodeLost === true

const silentOf = ({ lost }: Crew) => lost.filter((worker) => !isCertain(worker))

const heardOf = ({ present, unscheduled, starting, stuck, lost }: Crew): number =>
  present - unscheduled.length - starting.length - stuck.length - lost.length

/** One worker may hang; when most of several fall silent together, it is rather we who do not hear. */
export const isDeaf = (crew: Crew): boolean => {
  const silent = silentOf(crew)
  const isMost = silent.length > 1 && silent.length > heardOf(crew)
  return isMost && Math.min(...silent.map(({ silentMs }) => silentMs)) < deafForMs
}

/**
 * The lost workers that are replaced now: those that are certainly lost, and the others too unless more are silent than heard.
 * Then they may all still serve, and go one at a time: not within 30 s, and the next once the replacement of the one before,
 * `sinceLastMs` ago, was heard.
 */
export const replaceableOf = (crew: Crew, sinceLastMs: number): readonly SeenWorker[] => {
  const silent = silentOf(crew)
  if (silent.length <= heardOf(crew)) return crew.lost
  const certain = crew.lost.filter(isCertain)
  const isAwaited = crew.unscheduled.length + crew.starting.length > 0 || sinceLastMs < lostAfterMs
  if (isDeaf(crew) || isAwaited) return certain
  return [...certain, ...silent.toSorted((a, b) => b.silentMs - a.silentMs).slice(0, 1)]
}
