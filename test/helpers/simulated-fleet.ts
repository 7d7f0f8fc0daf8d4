import type { Decision, Observation, ObservedWorker } from '#controller/decide/pool.ts'
import { otherPools } from './observed-pool.ts'

/** Parameters of a fleet; see the scenario of a simulation. */
export type FleetOptions = {
  readonly slots: number
  readonly serviceMs: () => number
  readonly startMs: () => number
  readonly cannotStart?: (atMs: number, turn: number) => boolean
  readonly quota?: (atMs: number) => number
  readonly slotsElsewhere?: number
  /** Called when a worker starts a capture, and when the capture ends. */
  readonly began?: (id: string) => void
  readonly ended?: (id: string) => void
}

type Worker = {
  pod: string
  turn: number
  slots: number
  bornMs: number
  readyMs: number
  stuck: boolean
  leaving: boolean
  running: { readonly id: string; readonly endMs: number }[]
}

/** Delay until the reason why a worker does not start is reported. */
const noticedAfterMs = 1500

const stateAt = (worker: Worker, atMs: number): ObservedWorker['state'] => {
  if (worker.readyMs > atMs) return worker.stuck && atMs - worker.bornMs >= noticedAfterMs ? 'stuck' : 'starting'
  if (!worker.leaving) return 'ready'
  return worker.running.length > 0 ? 'draining' : 'drained'
}

/** Removal order of a ReplicaSet: first pods that are not running, then pods that are not ready. */
const rankOf = (worker: Worker, atMs: number): number => {
  const state = stateAt(worker, atMs)
  if (state === 'starting' || state === 'stuck') return 0
  return state === 'ready' ? 2 : 1
}

const createWorker = (initial: Pick<Worker, 'turn' | 'slots' | 'bornMs' | 'readyMs'>): Worker => ({
  pod: `worker-${initial.turn}`,
  stuck: false,
  leaving: false,
  running: [],
  ...initial,
})

/** A queue and its workers. */
const createService = (
  { serviceMs, began, ended }: Pick<FleetOptions, 'serviceMs' | 'began' | 'ended'>,
  crews: readonly (readonly Worker[])[],
) => {
  const queue: { readonly id: string; readonly atMs: number }[] = []
  const waitsMs: number[] = []
  let servedMs = 0
  return {
    queue,
    waitsMs,
    meanServiceMs: () => (waitsMs.length === 0 ? undefined : servedMs / waitsMs.length),
    /** Ends finished captures and starts waiting ones. */
    serve: (atMs: number) => {
      for (const worker of crews.flat()) {
        for (const { id, endMs } of worker.running) if (endMs <= atMs) ended?.(id)
        worker.running = worker.running.filter(({ endMs }) => endMs > atMs)
        while (stateAt(worker, atMs) === 'ready' && worker.running.length < worker.slots) {
          const next = queue.shift()
          if (!next) break
          waitsMs.push(atMs - next.atMs)
          const lastsMs = serviceMs()
          servedMs += lastsMs
          worker.running.push({ id: next.id, endMs: atMs + lastsMs })
          began?.(next.id)
        }
      }
    },
  }
}

const runningIn = (workers: readonly Worker[]) => workers.reduce((sum, { running }) => sum + running.length, 0)

/** Keeps the desired number of workers, as a ReplicaSet does, which chooses the workers to remove. */
const createReplicas = (options: FleetOptions) => {
  const workers: Worker[] = []
  let requiredCount = 0
  let born = 0
  let interrupted = 0
  let aborted = 0

  const remove = (worker: Worker, atMs: number) => {
    workers.splice(workers.indexOf(worker), 1)
    interrupted += worker.running.length
    if (stateAt(worker, atMs) === 'starting') aborted += 1
  }
  const make = (atMs: number) => {
    const most = Math.min(requiredCount, options.quota?.(atMs) ?? Infinity)
    while (workers.length < most) {
      born += 1
      workers.push(createWorker({ turn: born, slots: options.slots, bornMs: atMs, readyMs: atMs + options.startMs() }))
    }
  }
  const come = (atMs: number) => {
    for (const worker of workers) {
      if (worker.readyMs <= atMs) continue
      worker.stuck = options.cannotStart?.(atMs, worker.turn) ?? false
      if (worker.stuck) worker.readyMs = Math.max(worker.readyMs, atMs + options.startMs())
    }
  }

  return {
    workers,
    required: () => requiredCount,
    interrupted: () => interrupted,
    aborted: () => aborted,
    ask: (total: number) => {
      requiredCount = total
    },
    /** Removes excess workers; among equals, the named ones first. */
    shrink: (named: readonly string[], atMs: number) => {
      const order = workers.toSorted(
        (a, b) => rankOf(a, atMs) - rankOf(b, atMs) || Number(named.includes(b.pod)) - Number(named.includes(a.pod)),
      )
      for (const worker of order.slice(0, Math.max(0, workers.length - requiredCount))) remove(worker, atMs)
    },
    drop: (pods: readonly string[], atMs: number) => {
      for (const worker of workers.filter(({ pod }) => pods.includes(pod))) remove(worker, atMs)
    },
    pass: (atMs: number) => {
      make(atMs)
      come(atMs)
    },
  }
}

/** A queue, served by a pool of workers and by workers outside the pool. */
export const createSimulatedFleet = (options: FleetOptions) => {
  const replicas = createReplicas(options)
  const { workers } = replicas
  const others = Array.from({ length: options.slotsElsewhere ?? 0 }, (_, index) =>
    createWorker({ turn: -index, slots: 1, bornMs: 0, readyMs: 0 }),
  )
  const { queue, serve, waitsMs, meanServiceMs } = createService(options, [others, workers])

  const setLeaving = (pods: readonly string[], leaving: boolean) => {
    for (const worker of workers) if (pods.includes(worker.pod)) worker.leaving = leaving
  }
  const refused = (): Observation['refused'] => {
    const count = replicas.required() - workers.length
    return count > 0 ? { count, trouble: 'quota' } : undefined
  }

  return {
    waitsMs,
    meanServiceMs,
    refused,
    required: replicas.required,
    interrupted: replicas.interrupted,
    aborted: replicas.aborted,
    arrive: (atMs: number, id = '') => queue.push({ id, atMs }),
    depth: () => ({ waiting: queue.length, inFlight: runningIn([...others, ...workers]) }),
    oldestMs: (atMs: number) => atMs - (queue[0]?.atMs ?? atMs),
    otherPools: () => otherPools(others.length, runningIn(others)),
    readyCount: (atMs: number) => workers.filter(({ readyMs }) => readyMs <= atMs).length,
    observe: (atMs: number): ObservedWorker[] =>
      workers.map((worker) => ({
        pod: worker.pod,
        state: stateAt(worker, atMs),
        ...(stateAt(worker, atMs) === 'stuck' && { trouble: 'unschedulable' }),
        ageMs: atMs - worker.bornMs,
        silentMs: 0,
        slots: worker.slots,
        busy: worker.running.length,
      })),
    /** Creates desired workers, and advances their starts and their captures. */
    pass: (atMs: number) => {
      replicas.pass(atMs)
      serve(atMs)
    },
    applyDecision: (decision: Decision, atMs: number) => {
      if (decision.kind === 'drain') setLeaving(decision.pods, true)
      if (decision.kind === 'replace') replicas.drop(decision.pods, atMs)
      if (decision.kind === 'stop') {
        replicas.ask(workers.length - decision.pods.length)
        replicas.shrink(decision.pods, atMs)
      }
      if (decision.kind !== 'scale-up') return
      setLeaving(decision.undrain, false)
      replicas.ask(Math.max(replicas.required(), decision.to))
    },
  }
}
