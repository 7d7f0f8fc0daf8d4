import { decide as realDecide } from '#controller/decide.ts'
import {
  type Backlog,
  blankMemory,
  type Decide,
  type Decision,
  type Observation,
  type PoolPolicy,
  type SeenWorker,
} from '#controller/pool.ts'

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A number whose logarithm is normally distributed around that of `median`. */
export const logNormal = (random: () => number, median: number, sigma: number): number =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))

/** What is simulated. Times in milliseconds from the start. */
export type Scenario = {
  readonly policy: PoolPolicy
  /** When captures arrive, in order. */
  readonly arrivals: readonly number[]
  readonly serviceMs: () => number
  readonly startMs: () => number
  readonly untilMs: number
  /** While this holds the ledger says nothing. */
  readonly ledgerSilent?: (atMs: number) => boolean
  /** Stands in for the real one. */
  readonly decide?: Decide
}

/** The pool at one tick, before the decision was carried out. */
export type Moment = {
  readonly atMs: number
  readonly decision: Decision
  readonly active: number
  readonly ready: number
  /** Captures that were accepted and not done. */
  readonly known: number
  /** The same as the ledger last counted it. */
  readonly counted: number
}

/** What came of it. `interrupted` counts captures that were running in a worker when it was stopped. */
export type Outcome = {
  readonly moments: readonly Moment[]
  readonly waitsMs: readonly number[]
  readonly interrupted: number
}

type Worker = { pod: string; bornMs: number; readyMs: number; leaving: boolean; endsMs: number[] }

const tickMs = 1000
/** The ledger counts between two ticks, so that every decision sees an old number. */
const ledgerPhaseMs = 400
const stepMs = 10
const staleAfterMs = 5000

const stateOf = (worker: Worker, atMs: number): SeenWorker['state'] => {
  if (worker.readyMs > atMs) return 'starting'
  if (!worker.leaving) return 'ready'
  return worker.endsMs.length > 0 ? 'draining' : 'drained'
}

/** A queue and the workers that serve it. */
const createFleet = (scenario: Scenario) => {
  const { slots } = scenario.policy
  const workers: Worker[] = []
  const queue: number[] = []
  const waitsMs: number[] = []
  let servedMs = 0
  let interrupted = 0
  let born = 0

  const running = () => workers.reduce((sum, { endsMs }) => sum + endsMs.length, 0)

  const setLeaving = (pods: readonly string[], leaving: boolean) => {
    for (const worker of workers) if (pods.includes(worker.pod)) worker.leaving = leaving
  }
  const remove = (pod: string) => {
    const index = workers.findIndex((worker) => worker.pod === pod)
    interrupted += workers.splice(index, 1)[0]?.endsMs.length ?? 0
  }
  const add = (atMs: number) => {
    born += 1
    const readyMs = atMs + scenario.startMs()
    workers.push({ pod: `worker-${born}`, bornMs: atMs, readyMs, leaving: false, endsMs: [] })
  }

  return {
    waitsMs,
    interrupted: () => interrupted,
    arrive: (atMs: number) => queue.push(atMs),
    depth: () => ({ waiting: queue.length, inFlight: running() }),
    oldestMs: (atMs: number) => atMs - (queue[0] ?? atMs),
    meanServiceMs: () => (waitsMs.length === 0 ? undefined : servedMs / waitsMs.length),
    readyCount: (atMs: number) => workers.filter(({ readyMs }) => readyMs <= atMs).length,
    seen: (atMs: number): SeenWorker[] =>
      workers.map((worker) => ({
        pod: worker.pod,
        state: stateOf(worker, atMs),
        ageMs: atMs - worker.bornMs,
        silentMs: 0,
        slots,
        busy: worker.endsMs.length,
      })),
    /** Ends what is done and begins what waits. */
    serve: (atMs: number) => {
      for (const worker of workers) {
        worker.endsMs = worker.endsMs.filter((endMs) => endMs > atMs)
        while (stateOf(worker, atMs) === 'ready' && worker.endsMs.length < slots && queue.length > 0) {
          waitsMs.push(atMs - (queue.shift() ?? atMs))
          const lastsMs = scenario.serviceMs()
          servedMs += lastsMs
          worker.endsMs.push(atMs + lastsMs)
        }
      }
    },
    carryOut: (decision: Decision, atMs: number) => {
      if (decision.kind === 'drain') setLeaving(decision.pods, true)
      if (decision.kind === 'stop') for (const pod of decision.pods) remove(pod)
      if (decision.kind !== 'scale-up') return
      setLeaving(decision.undrain, false)
      while (workers.length < decision.to) add(atMs)
    },
  }
}

/** Runs a scenario against a simulated queue, ledger and workers. No clock, no randomness of its own. */
export const simulatePool = (scenario: Scenario): Outcome => {
  const { policy, arrivals, decide = realDecide } = scenario
  const fleet = createFleet(scenario)
  const moments: Moment[] = []
  let arrived = 0
  let memory = blankMemory
  let counted: { atMs: number; backlog: Backlog } | undefined

  const count = (atMs: number) => {
    if (scenario.ledgerSilent?.(atMs)) return
    const { waiting, inFlight } = fleet.depth()
    const arrivals10s = arrivals.filter((each) => each <= atMs && each > atMs - 10_000).length
    const backlog = { pending: waiting, processing: inFlight, arrivals10s, oldestMs: fleet.oldestMs(atMs) }
    counted = { atMs, backlog }
  }

  const look = (atMs: number): Observation => ({
    nowMs: atMs,
    backlog: counted && atMs - counted.atMs <= staleAfterMs ? counted.backlog : 'unknown',
    depth: fleet.depth(),
    workers: fleet.seen(atMs),
    starts: { failed: 0, ready: fleet.readyCount(atMs) },
    startMs: undefined,
    serviceMs: fleet.meanServiceMs(),
  })

  const tick = (atMs: number) => {
    const { decision, memory: next } = decide(look(atMs), policy, memory)
    memory = next
    const active = fleet.seen(atMs).filter(({ state }) => state === 'ready' || state === 'starting')
    const { waiting, inFlight } = fleet.depth()
    moments.push({
      atMs,
      decision,
      active: active.length,
      ready: active.filter(({ state }) => state === 'ready').length,
      known: waiting + inFlight,
      counted: counted ? counted.backlog.pending + counted.backlog.processing : 0,
    })
    fleet.carryOut(decision, atMs)
  }

  for (let atMs = 0; atMs <= scenario.untilMs; atMs += stepMs) {
    for (; (arrivals[arrived] ?? Infinity) <= atMs; arrived += 1) fleet.arrive(arrivals[arrived] ?? atMs)
    fleet.serve(atMs)
    if (atMs % tickMs === ledgerPhaseMs) count(atMs)
    if (atMs % tickMs === 0) tick(atMs)
  }
  return { moments, waitsMs: fleet.waitsMs, interrupted: fleet.interrupted() }
}
