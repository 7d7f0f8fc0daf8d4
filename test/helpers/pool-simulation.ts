import { decide } from '#controller/decide.ts'
import { blankMemory, type Decision, type Observation, type PoolPolicy, type SeenWorker } from '#controller/pool.ts'

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
}

/** The pool at one tick, before the decision was carried out. */
export type Moment = {
  readonly atMs: number
  readonly decision: Decision
  readonly active: number
  readonly ready: number
  /** Captures that were accepted and not done. */
  readonly known: number
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

const stateOf = (worker: Worker, atMs: number): SeenWorker['state'] => {
  if (worker.readyMs > atMs) return 'starting'
  if (!worker.leaving) return 'ready'
  return worker.endsMs.length > 0 ? 'draining' : 'drained'
}

/** Runs a scenario with the real `decide` against a simulated queue, ledger and workers. No clock, no randomness of its own. */
export const simulatePool = (scenario: Scenario): Outcome => {
  const { policy } = scenario
  const workers: Worker[] = []
  const queue: number[] = []
  const moments: Moment[] = []
  const waitsMs: number[] = []
  const starts = { ready: 0, failed: 0 }
  let interrupted = 0
  let born = 0
  let arrived = 0
  let memory = blankMemory
  let backlog: { atMs: number; counts: Exclude<Observation['backlog'], 'unknown'> } | undefined
  let service: { sum: number; count: number } = { sum: 0, count: 0 }

  const running = () => workers.reduce((sum, { endsMs }) => sum + endsMs.length, 0)

  const serve = (atMs: number) => {
    for (const worker of workers) {
      worker.endsMs = worker.endsMs.filter((endMs) => endMs > atMs)
      while (stateOf(worker, atMs) === 'ready' && worker.endsMs.length < policy.slots && queue.length > 0) {
        waitsMs.push(atMs - (queue.shift() ?? atMs))
        const lasts = scenario.serviceMs()
        service = { sum: service.sum + lasts, count: service.count + 1 }
        worker.endsMs.push(atMs + lasts)
      }
    }
  }

  const count = (atMs: number) => {
    if (scenario.ledgerSilent?.(atMs)) return
    const recent = scenario.arrivals.filter((each) => each <= atMs && each > atMs - 10_000).length
    const counts = {
      pending: queue.length,
      processing: running(),
      arrivals10s: recent,
      oldestMs: atMs - (queue[0] ?? atMs),
    }
    backlog = { atMs, counts }
  }

  const look = (atMs: number): Observation => ({
    nowMs: atMs,
    backlog: backlog && atMs - backlog.atMs <= 5000 ? backlog.counts : 'unknown',
    depth: { waiting: queue.length, inFlight: running() },
    workers: workers.map((worker) => ({
      pod: worker.pod,
      state: stateOf(worker, atMs),
      ageMs: atMs - worker.bornMs,
      silentMs: 0,
      slots: policy.slots,
      busy: worker.endsMs.length,
    })),
    starts: { ...starts, ready: workers.filter(({ readyMs }) => readyMs <= atMs).length },
    startMs: undefined,
    serviceMs: service.count === 0 ? undefined : service.sum / service.count,
  })

  const setLeaving = (pods: readonly string[], leaving: boolean) => {
    for (const worker of workers) if (pods.includes(worker.pod)) worker.leaving = leaving
  }

  const carryOut = (decision: Decision, atMs: number) => {
    if (decision.kind === 'drain') setLeaving(decision.pods, true)
    if (decision.kind === 'stop') {
      for (const pod of decision.pods) {
        const [gone] = workers.splice(
          workers.findIndex((worker) => worker.pod === pod),
          1,
        )
        interrupted += gone?.endsMs.length ?? 0
      }
    }
    if (decision.kind !== 'scale-up') return
    setLeaving(decision.undrain, false)
    while (workers.length < decision.to) {
      born += 1
      workers.push({
        pod: `worker-${born}`,
        bornMs: atMs,
        readyMs: atMs + scenario.startMs(),
        leaving: false,
        endsMs: [],
      })
    }
  }

  const tick = (atMs: number) => {
    const { decision, memory: next } = decide(look(atMs), policy, memory)
    memory = next
    const active = workers.filter(({ leaving }) => !leaving)
    const ready = active.filter(({ readyMs }) => readyMs <= atMs).length
    moments.push({ atMs, decision, active: active.length, ready, known: queue.length + running() })
    carryOut(decision, atMs)
  }

  for (let atMs = 0; atMs <= scenario.untilMs; atMs += stepMs) {
    while ((scenario.arrivals[arrived] ?? Infinity) <= atMs) {
      queue.push(scenario.arrivals[arrived] ?? atMs)
      arrived += 1
    }
    serve(atMs)
    if (atMs % tickMs === ledgerPhaseMs) count(atMs)
    if (atMs % tickMs === 0) tick(atMs)
  }
  return { moments, waitsMs, interrupted }
}
