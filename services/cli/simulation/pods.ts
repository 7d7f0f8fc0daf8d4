import { type Lane, lanes, reservedLanes } from '#shared/capture/lane.ts'
import { createServiceTime, type ServiceTime } from '#shared/policy/service-time.ts'
import { LaneTurns, type SlotTurns } from '#worker/delivery/lane-turns.ts'
import type { Bounds } from './sight.ts'

/** One capture of a trace. */
export type Arrival = { readonly atMs: number; readonly serviceMs: number; readonly lane: Lane }

/** A slot of a pod, and the lanes that it serves. */
export type SimulatedSlot = { readonly turns: SlotTurns; readonly serves: readonly Lane[] }

/** A pod of a simulated pool. Times are milliseconds since the start of the simulation. */
export type SimulatedPod = {
  readonly id: string
  readonly createdMs: number
  /** When it was placed on a node; `Infinity` while it waits for one. */
  placedMs: number
  state: 'unscheduled' | 'starting' | 'ready' | 'draining' | 'gone'
  /** What it runs, each in its slot, and its other slots. */
  readonly serving: Map<Arrival, SimulatedSlot>
  readonly idle: SimulatedSlot[]
  readonly service: ServiceTime
  /** What it last reported: its busy slots, and the times of its captures by lane. */
  reported: { readonly busy: number; readonly laneServiceMs: ReturnType<ServiceTime['laneMs']> }
  /** Whether a report is under way. */
  isReporting: boolean
}

const slotsOf = (id: string, { slots, reservedSlots = 0 }: Bounds): SimulatedSlot[] => {
  const turns = new LaneTurns(id)
  return Array.from({ length: slots }, (_, index) => {
    const serves = index < reservedSlots ? reservedLanes : lanes
    return { turns: turns.forSlot(serves), serves }
  })
}

/** A pod without a node. */
export const createPod = (id: string, createdMs: number, bounds: Bounds): SimulatedPod => ({
  id,
  createdMs,
  placedMs: Number.POSITIVE_INFINITY,
  state: 'unscheduled',
  serving: new Map(),
  idle: slotsOf(id, bounds),
  service: createServiceTime(),
  reported: { busy: 0, laneServiceMs: {} },
  isReporting: false,
})
