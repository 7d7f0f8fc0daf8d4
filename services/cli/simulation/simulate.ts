import { type Lane, lanes } from '#shared/capture/lane.ts'
import { heartbeatMs } from '#shared/queue/messages.ts'
import { createStartLatency } from '#controller/decide/start-latency.ts'
import { EventQueue } from './event-queue.ts'
import { Line } from './line.ts'
import { type Arrival, createPod, type SimulatedPod, type SimulatedSlot } from './pods.ts'
import type { Bounds, Sight } from './sight.ts'

/** Captures of a lane, as the ledger counts them. */
export type LaneCount = { pending: number; processing: number; accepted: number; oldestMs: number }

/** What decides on the size of a simulated pool: sees it every `everyMs`, and changes it. */
export type Driver = {
  readonly everyMs: number
  readonly wakesFromZero: boolean
  /** Least milliseconds between evaluations because a capture arrived; without it, arrivals cause none. */
  readonly wakeGapMs?: number
  /** Whether a pod takes captures until one has ended, and ends then. */
  readonly isSingleUse?: boolean
  /** Whether a draining pod ends by itself, without a decision. */
  readonly endsDrained: boolean
  readonly act: (pool: Simulation) => void
}

/** What is simulated. All times in milliseconds. */
export type Scenario = {
  /** In the order of their times. */
  readonly arrivals: readonly Arrival[]
  readonly durationMs: number
  readonly bounds: Bounds
  /** Numbers in [0, 1). */
  readonly random: () => number
  /** Time from a pod's placement on a node until it is ready. */
  readonly startMs: () => number
  /** Time until a new pod gets a node; 0 without. */
  readonly placeMs?: (atMs: number, pods: number) => number
  /** Mean time until a pod is taken away by its node; its captures wait again. */
  readonly podLifeMs?: number
  /** When a zone is lost, and every third pod with it; never if not given. */
  readonly zoneLostMs?: number
  /** How long reports of workers and counts of the ledger take to arrive; 0 if not given. */
  readonly reportDelayMs?: number
  /** Share of them that are lost; none if not given. */
  readonly reportLoss?: number
}

/** Results of a simulation. */
export type Outcome = {
  /** Milliseconds that each begun capture that arrived after the first five minutes has waited, by lane. */
  readonly waitsMs: Readonly<Record<Lane, readonly number[]>>
  /** Captures that waited still at the end. */
  readonly unbegun: number
  readonly podHours: number
  /** Times per hour after the first five minutes that the size turned from growing to shrinking or back. */
  readonly turnsPerHour: number
  /** Captures that ran when a decision removed their pod. */
  readonly interrupted: number
  /** Ready pods that a decision drained, how many of them ran a capture, and how many had reported one. */
  readonly drained: number
  readonly busyDrained: number
  readonly knownBusyDrained: number
  readonly created: number
  /** Every ten seconds: pods, captures known. */
  readonly series: readonly {
    readonly atMs: number
    readonly pods: number
    readonly ready: number
    readonly known: number
  }[]
}

type Event =
  | { readonly kind: 'placed' | 'ready' | 'reports' | 'lost'; readonly pod: SimulatedPod }
  | { readonly kind: 'reported'; readonly pod: SimulatedPod; readonly report: SimulatedPod['reported'] }
  | { readonly kind: 'ended'; readonly pod: SimulatedPod; readonly arrival: Arrival }
  | { readonly kind: 'look' }
  | { readonly kind: 'zone' }
  | { readonly kind: 'sample' }

const sampleMs = 10_000
/** A worker reports a change within this time, together with others of that time. */
const reportMs = 500
/** Captures that arrive before are not measured: the pool is at its beginning. */
export const warmUpMs = 300_000

/** A pool with its queue, advanced from event to event. Deterministic for a `random` of the same seed. */
export class Simulation {
  readonly scenario: Scenario
  nowMs = 0
  /** Times from placement to ready, and how many pods became ready. */
  readonly startLatency = createStartLatency()
  startedPods = 0
  /** Pods that exist, oldest first. */
  pods: SimulatedPod[] = []
  readonly #driver: Driver
  readonly #events = new EventQueue<Event>()
  readonly #lines: Readonly<Record<Lane, Line>> = { interactive: new Line(), normal: new Line(), bulk: new Line() }
  readonly #counts = perLane(() => ({ processing: 0, accepted: 0 }))
  readonly #waits = perLane((): number[] => [])
  readonly #series: { atMs: number; pods: number; ready: number; known: number }[] = []
  /** Ready pods with a free slot. */
  readonly #free = new Set<SimulatedPod>()
  #arrived = 0
  #actedMs = 0
  #known = 0
  #knownMs = 0
  #podMs = 0
  #created = 0
  #interrupted = 0
  #drained = 0
  #busyDrained = 0
  #knownBusyDrained = 0
  #serviceMs: number[] = []
  #size = 0
  #direction = 0
  #turns = 0

  constructor(scenario: Scenario, driver: Driver) {
    this.scenario = scenario
    this.#driver = driver
  }

  run(): Outcome {
    this.#events.add(0, { kind: 'look' })
    this.#events.add(0, { kind: 'sample' })
    const { arrivals, durationMs, zoneLostMs } = this.scenario
    if (zoneLostMs !== undefined) this.#events.add(zoneLostMs, { kind: 'zone' })
    for (;;) {
      const arrival = arrivals[this.#arrived]
      const arrivalMs = arrival?.atMs ?? Number.POSITIVE_INFINITY
      const nextMs = Math.min(arrivalMs, this.#events.nextMs)
      if (nextMs > durationMs) break
      this.#advance(nextMs)
      const event = arrivalMs === nextMs ? undefined : this.#events.take()
      if (event) this.#handle(event)
      else if (arrival) this.#arrive(arrival)
    }
    this.#advance(durationMs)
    return {
      waitsMs: this.#waits,
      unbegun: this.waiting,
      podHours: this.#podMs / 3_600_000,
      turnsPerHour: (this.#turns * 3_600_000) / (durationMs - warmUpMs),
      interrupted: this.#interrupted,
      drained: this.#drained,
      busyDrained: this.#busyDrained,
      knownBusyDrained: this.#knownBusyDrained,
      created: this.#created,
      series: this.#series,
    }
  }

  get waiting(): number {
    return lanes.reduce((sum, lane) => sum + this.#lines[lane].length, 0)
  }

  get running(): number {
    return lanes.reduce((sum, lane) => sum + this.#counts[lane].processing, 0)
  }

  /** The latest service times, at most 100. */
  get recentServiceMs(): readonly number[] {
    return this.#serviceMs
  }

  /** Whether a report that is sent now is lost. */
  loses(): boolean {
    const { reportLoss = 0, random } = this.scenario
    return reportLoss > 0 && random() < reportLoss
  }

  countsOf(lane: Lane): LaneCount {
    const { processing, accepted } = this.#counts[lane]
    const first = this.#lines[lane].first
    const oldestMs = first ? this.nowMs - first.atMs : 0
    return { pending: this.#lines[lane].length, processing, accepted, oldestMs }
  }

  sight(): Sight {
    const inState = (...states: SimulatedPod['state'][]) =>
      this.pods.filter(({ state }) => states.includes(state)).length
    const counts = lanes.map((lane) => this.countsOf(lane))
    const sum = (of: (count: LaneCount) => number) => counts.reduce((total, count) => total + of(count), 0)
    return {
      nowMs: this.nowMs,
      waiting: sum(({ pending }) => pending),
      running: sum(({ processing }) => processing),
      accepted: sum(({ accepted }) => accepted),
      oldestMs: Math.max(...counts.map(({ oldestMs }) => oldestMs)),
      knownMs: this.#knownMs,
      ready: inState('ready'),
      starting: inState('starting', 'unscheduled'),
      draining: inState('draining'),
    }
  }

  create(count: number): void {
    for (let turn = 0; turn < count; turn += 1) {
      const placeMs = this.scenario.placeMs?.(this.nowMs, this.pods.length) ?? 0
      const pod = createPod(`pod-${(this.#created += 1)}`, this.nowMs, this.scenario.bounds)
      this.pods.push(pod)
      if (placeMs > 0) this.#events.add(this.nowMs + placeMs, { kind: 'placed', pod })
      else this.#place(pod)
      if (this.scenario.podLifeMs !== undefined) {
        const lifeMs = -Math.log(1 - this.scenario.random()) * this.scenario.podLifeMs
        this.#events.add(this.nowMs + lifeMs, { kind: 'lost', pod })
      }
    }
  }

  /** The pod takes no more captures. */
  drain(pod: SimulatedPod): void {
    if (pod.state !== 'ready') return
    this.#drained += 1
    if (pod.serving.size > 0) this.#busyDrained += 1
    if (pod.reported.busy > 0) this.#knownBusyDrained += 1
    this.#close(pod)
    this.#endIfDrained(pod)
  }

  undrain(pod: SimulatedPod): void {
    if (pod.state !== 'draining') return
    pod.state = 'ready'
    this.#offer(pod)
  }

  /** Removes a pod; what it runs is interrupted and waits again. */
  remove(pod: SimulatedPod): void {
    this.#interrupted += pod.serving.size
    this.#end(pod)
  }

  #advance(toMs: number): void {
    const tookMs = toMs - this.nowMs
    this.#podMs += tookMs * this.pods.length
    this.#knownMs += tookMs * this.#known
    this.nowMs = toMs
  }

  #arrive(arrival: Arrival): void {
    this.#arrived += 1
    this.#known += 1
    this.#counts[arrival.lane].accepted += 1
    this.#lines[arrival.lane].push(arrival)
    for (const pod of this.#free) if (this.#serve(pod)) break
    const { wakesFromZero, wakeGapMs = Number.POSITIVE_INFINITY } = this.#driver
    if (this.nowMs >= this.#actedMs + wakeGapMs || (this.pods.length === 0 && wakesFromZero)) this.#act()
  }

  #handle(event: Event): void {
    if (event.kind === 'look') {
      this.#act()
      this.#events.add(this.nowMs + this.#driver.everyMs, event)
    } else if (event.kind === 'sample') {
      const ready = this.pods.filter(({ state }) => state === 'ready').length
      this.#series.push({ atMs: this.nowMs, pods: this.pods.length, ready, known: this.#known })
      this.#events.add(this.nowMs + sampleMs, event)
    } else if (event.kind === 'zone') {
      for (const pod of this.pods.filter((_, index) => index % 3 === 0)) this.#end(pod)
    } else if (event.pod.state === 'gone') {
      // It was removed before.
    } else if (event.kind === 'placed') this.#place(event.pod)
    else if (event.kind === 'ready') this.#ready(event.pod)
    else if (event.kind === 'ended') this.#finish(event.pod, event.arrival)
    else if (event.kind === 'reports') this.#report(event.pod)
    else if (event.kind === 'reported') event.pod.reported = event.report
    else this.#end(event.pod)
  }

  #act(): void {
    this.#actedMs = this.nowMs
    this.#driver.act(this)
    const size = this.pods.filter(({ state }) => state !== 'draining').length
    const direction = Math.sign(size - this.#size)
    this.#size = size
    if (direction === 0) return
    if (direction !== this.#direction && this.nowMs > warmUpMs) this.#turns += 1
    this.#direction = direction
  }

  #place(pod: SimulatedPod): void {
    pod.placedMs = this.nowMs
    pod.state = 'starting'
    this.#events.add(this.nowMs + this.scenario.startMs(), { kind: 'ready', pod })
  }

  #ready(pod: SimulatedPod): void {
    pod.state = 'ready'
    this.startLatency.add(this.nowMs - pod.placedMs)
    this.startedPods += 1
    this.#offer(pod)
  }

  /** Fills the free slots of a ready pod. */
  #offer(pod: SimulatedPod): void {
    if (pod.idle.length > 0) this.#free.add(pod)
    while (this.#free.has(pod) && this.#serve(pod));
  }

  /** Begins the next capture in a free slot of a pod; returns whether there was one for it. */
  #serve(pod: SimulatedPod): boolean {
    const slot = pod.idle.find((each) => this.#begin(pod, each))
    if (!slot) return false
    pod.idle.splice(pod.idle.indexOf(slot), 1)
    if (this.#driver.isSingleUse === true) this.#close(pod)
    else if (pod.idle.length === 0) this.#free.delete(pod)
    return true
  }

  #begin(pod: SimulatedPod, slot: SimulatedSlot): boolean {
    const { turns, serves } = slot
    if (serves.every((each) => this.#lines[each].length === 0)) return false
    const lane = turns.next().find((each) => this.#lines[each].length > 0)
    const arrival = lane && this.#lines[lane].shift()
    if (!arrival) return false
    turns.served(arrival.lane)
    pod.serving.set(arrival, slot)
    this.#willReport(pod)
    this.#counts[arrival.lane].processing += 1
    if (arrival.atMs >= warmUpMs) this.#waits[arrival.lane].push(this.nowMs - arrival.atMs)
    this.#events.add(this.nowMs + arrival.serviceMs, { kind: 'ended', pod, arrival })
    return true
  }

  #finish(pod: SimulatedPod, arrival: Arrival): void {
    const slot = pod.serving.get(arrival)
    if (slot) pod.idle.push(slot)
    pod.serving.delete(arrival)
    this.#known -= 1
    this.#counts[arrival.lane].processing -= 1
    pod.service.add(arrival.lane, arrival.serviceMs)
    this.#willReport(pod)
    remember(this.#serviceMs, arrival.serviceMs, 100)
    if (pod.state === 'ready') this.#offer(pod)
    this.#endIfDrained(pod)
  }

  #willReport(pod: SimulatedPod): void {
    if (pod.isReporting) return
    pod.isReporting = true
    this.#events.add(this.nowMs + reportMs, { kind: 'reports', pod })
  }

  /** Sends a report. If it is lost, the next heartbeat repeats what it said. */
  #report(pod: SimulatedPod): void {
    pod.isReporting = false
    if (this.loses()) return this.#events.add(this.nowMs + heartbeatMs, { kind: 'reports', pod })
    const report = { busy: pod.serving.size, laneServiceMs: pod.service.laneMs() }
    const { reportDelayMs = 0 } = this.scenario
    if (reportDelayMs === 0) pod.reported = report
    else this.#events.add(this.nowMs + reportDelayMs, { kind: 'reported', pod, report })
  }

  #close(pod: SimulatedPod): void {
    pod.state = 'draining'
    this.#free.delete(pod)
  }

  #endIfDrained(pod: SimulatedPod): void {
    if (pod.state === 'draining' && pod.serving.size === 0 && this.#driver.endsDrained) this.#end(pod)
  }

  #end(pod: SimulatedPod): void {
    pod.state = 'gone'
    this.pods = this.pods.filter((each) => each !== pod)
    this.#free.delete(pod)
    for (const arrival of pod.serving.keys()) {
      this.#counts[arrival.lane].processing -= 1
      this.#lines[arrival.lane].push(arrival)
    }
    for (const next of this.#free) this.#offer(next)
  }
}

const perLane = <Value>(create: () => Value): Record<Lane, Value> => ({
  interactive: create(),
  normal: create(),
  bulk: create(),
})

const remember = (values: number[], value: number, most: number): void => {
  values.push(value)
  if (values.length > most) values.shift()
}
