import { decide as realDecide } from '#controller/decide/decide.ts'
import {
  type Backlog,
  blankMemory,
  type Decide,
  type Decision,
  type Observation,
  type PoolPolicy,
  type ObservedWorker,
} from '#controller/decide/pool.ts'
import { attributeToInteractive } from './observed-pool.ts'
import { createSimulatedFleet } from './simulated-fleet.ts'

/** Parameters of a simulation. Times in milliseconds from the start. */
export type Scenario = {
  readonly policy: PoolPolicy
  /** Overrides the policy by time. */
  readonly policyAt?: (atMs: number) => PoolPolicy
  /** Arrival times of captures, ascending. */
  readonly arrivals: readonly number[]
  /** Closed-loop clients: each sends its next capture as soon as the last one has ended. */
  readonly callers?: number
  readonly serviceMs: () => number
  readonly startMs: () => number
  readonly untilMs: number
  /** Whether the ledger sends no reports at this time. */
  readonly ledgerSilent?: (atMs: number) => boolean
  /** Whether the worker with creation index `turn` cannot start at this time. */
  readonly cannotStart?: (atMs: number, turn: number) => boolean
  /** Maximum number of workers; the creation of more is rejected. */
  readonly quota?: (atMs: number) => number
  /** Slots of workers outside the pool on the same queue. */
  readonly slotsElsewhere?: number
  /** Replaces the real decision function. */
  readonly decide?: Decide
}

/** The pool at one tick, before the decision is applied. */
export type Moment = {
  readonly atMs: number
  readonly decision: Decision
  /** Required number of workers. */
  readonly required: number
  readonly active: number
  readonly ready: number
  readonly stuck: number
  readonly refused: number
  /** Accepted captures that have not ended. */
  readonly known: number
  /** The same number in the ledger's latest report. */
  readonly counted: number
}

/**
 * Results of a simulation. `interrupted` counts captures that a stopped worker was serving, `aborted` workers that were
 * stopped while they started.
 */
export type Outcome = {
  readonly moments: readonly Moment[]
  readonly waitsMs: readonly number[]
  readonly interrupted: number
  readonly aborted: number
}

const tickMs = 1000
/** The ledger reports between two ticks, so that every decision uses an old number. */
const ledgerPhaseMs = 400
const stepMs = 10
const staleAfterMs = 5000

/** Runs a scenario against a simulated queue, ledger and workers. Deterministic. */
export const simulatePool = (scenario: Scenario): Outcome => {
  const { decide = realDecide, callers = 0 } = scenario
  const arrivals = [...scenario.arrivals]
  const policyAt = scenario.policyAt ?? (() => scenario.policy)
  let nowMs = 0
  const call = () => {
    arrivals.push(nowMs)
    fleet.arrive(nowMs)
  }
  const ended = callers > 0 ? call : () => {}
  const fleet = createSimulatedFleet({ ...scenario, slots: scenario.policy.slots, ended })
  const moments: Moment[] = []
  let arrived = 0
  let memory = blankMemory
  let counted: Backlog | undefined

  const count = (atMs: number) => {
    if (scenario.ledgerSilent?.(atMs)) return
    const { waiting, inFlight } = fleet.depth()
    const accepted = arrivals.filter((each) => each <= atMs).length
    const counts = { pending: waiting, processing: inFlight, oldestMs: fleet.oldestMs(atMs) }
    counted = attributeToInteractive({ ...counts, accepted }, atMs)
  }

  const look = (atMs: number): Observation => ({
    nowMs: atMs,
    backlog: counted && atMs - counted.atMs <= staleAfterMs ? counted : 'unknown',
    depth: fleet.depth(),
    workers: fleet.observe(atMs),
    otherPools: fleet.otherPools(),
    refused: fleet.refused(),
    starts: { failed: 0, ready: fleet.readyCount(atMs) },
    startMs: undefined,
    serviceMs: fleet.meanServiceMs(),
    laneServiceMs: {},
  })

  const tick = (atMs: number) => {
    const { decision, memory: next } = decide(look(atMs), policyAt(atMs), memory)
    memory = next
    const inState = (...states: ObservedWorker['state'][]) =>
      fleet.observe(atMs).filter(({ state }) => states.includes(state)).length
    const { waiting, inFlight } = fleet.depth()
    moments.push({
      atMs,
      decision,
      required: fleet.required(),
      active: inState('ready', 'starting'),
      ready: inState('ready'),
      stuck: inState('stuck'),
      refused: fleet.refused()?.count ?? 0,
      known: waiting + inFlight,
      counted: counted ? counted.pending + counted.processing : 0,
    })
    fleet.applyDecision(decision, atMs)
  }

  for (let turn = 0; turn < callers; turn += 1) call()
  for (let atMs = 0; atMs <= scenario.untilMs; atMs += stepMs) {
    nowMs = atMs
    for (; (scenario.arrivals[arrived] ?? Infinity) <= atMs; arrived += 1)
      fleet.arrive(scenario.arrivals[arrived] ?? atMs)
    fleet.pass(atMs)
    if (atMs % tickMs === ledgerPhaseMs) count(atMs)
    if (atMs % tickMs === 0) tick(atMs)
  }
  return { moments, waitsMs: fleet.waitsMs, interrupted: fleet.interrupted(), aborted: fleet.aborted() }
}
