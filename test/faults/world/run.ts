import { at } from '#test/helpers/model-api/object.ts'
import { holds } from '#test/helpers/model-api/pods.ts'
import { seededRandom } from '#cli/simulation/random.ts'
import type { ClockFault } from '#test/helpers/simulated-process.ts'
import type { Damage } from './audit.ts'
import type { Row } from './ledger.ts'
import type { Interceptors } from './interceptors.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

/** A fault that lasts for a limited time. */
export type Fault = {
  readonly name: string
  /** Clock faults of the initial controllers. */
  readonly clocks?: (random: () => number) => readonly ClockFault[]
  readonly lastsMs: (random: () => number) => number
  readonly begin: (world: World, random: () => number) => void
  /** Called every second while the fault lasts. */
  readonly tick?: (world: World, random: () => number) => void
  readonly end?: (world: World, random: () => number) => void
}

/** Parameters of a run. */
export type Run = {
  readonly seed: number
  readonly fault: Fault
  readonly log?: WorldOptions['log']
  readonly interceptors?: Interceptors
}

const stepMs = 500
const warmMs = 25_000
const loadAfterMs = 20_000
/** Maximum time to come to rest after the fault and the load have ended. */
const restMs = 240_000
const burst = { everyMs: 35_000, lastsMs: 12_000, perSecond: 2.5 }
const usualPerSecond = 0.3
const proxiedPerSecond = 0.12

/** Generates load: bursts that scale the pool up, and pauses that scale it down. */
const createLoad = (world: World, random: () => number) => {
  const phaseMs = random() * burst.everyMs
  return () => {
    const isBurst = (world.clock.nowMs() + phaseMs) % burst.everyMs < burst.lastsMs
    const chance = ((isBurst ? burst.perSecond : usualPerSecond) * stepMs) / 1000
    if (random() < chance) world.ledger.accept('standard')
    if (random() < (proxiedPerSecond * stepMs) / 1000) {
      const together = random() < 0.2 ? 4 : 1
      for (let count = 0; count < together; count += 1) world.ledger.accept('proxied')
    }
  }
}

/** Whether all captures have ended, and the pool and the Jobs are back at their minimum of one. */
const isAtRest = ({ ledger, model: { server } }: World): boolean => {
  if (ledger.open().length > 0) return false
  const sizes = server.store.all('apps/v1/deployments').map((each) => at(each, 'spec', 'replicas'))
  const jobs = server.store.all('batch/v1/jobs').filter((job) => !holds(job, 'Complete') && !holds(job, 'Failed'))
  return sizes.length === 1 && sizes[0] === 1 && jobs.length === 1
}

/** Advances the clock to `untilMs`, and calls `each` every 500 ms. */
export const runUntil = async ({ clock }: Pick<World, 'clock'>, untilMs: number, each: () => void = () => {}) => {
  while (clock.nowMs() < untilMs) {
    each()
    await clock.advance(stepMs)
  }
}

/** The result of a run: all damages and all captures. */
export type Outcome = { readonly damages: readonly Damage[]; readonly rows: readonly Row[] }

/** Runs a world through a fault until it is at rest again. */
export const runFault = async ({ seed, fault, log, interceptors }: Run): Promise<Outcome> => {
  const random = seededRandom(seed * 7919)
  const clockFaults = fault.clocks?.(random) ?? []
  using world = createWorld({ seed, clockFaults, ...(log && { log }), ...(interceptors && { interceptors }) })
  const load = createLoad(world, random)
  await runUntil(world, warmMs + random() * burst.everyMs, load)
  fault.begin(world, random)
  let ticks = 0
  await runUntil(world, world.clock.nowMs() + fault.lastsMs(random), () => {
    load()
    if ((ticks += 1) % 2 === 0) fault.tick?.(world, random)
  })
  fault.end?.(world, random)
  await runUntil(world, world.clock.nowMs() + loadAfterMs, load)
  const limitMs = world.clock.nowMs() + restMs
  while (!isAtRest(world) && world.clock.nowMs() < limitMs) await world.clock.advance(stepMs)
  world.audit.close()
  if (!isAtRest(world)) world.audit.note('restless', `not at rest ${restMs / 1000} s after the fault`)
  return { damages: world.audit.damages, rows: [...world.ledger.rows.values()] }
}
