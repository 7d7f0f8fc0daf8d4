import { seeded } from '#test/helpers/seeded.ts'
import { faults } from './faults.ts'
import type { WorldKind } from './world.ts'

/** A fault to inject, `atMs` after the load began, for `forMs`. */
export type PlannedFault = { readonly name: string; readonly atMs: number; readonly forMs: number }

const operations = [
  ...(['create', 'webhook', 'webhook', 'capture', 'batch', 'repeat', 'shared', 'quota', 'brief'] as const),
  ...(['upload', 'upload', 'hooked', 'files', 'view', 'session', 'key', 'moved'] as const),
] as const
const followUps = ['download', 'link', 'delete', 'delete-early', 'list', 'nothing'] as const
const sources = ['html', 'site'] as const
const receivers = ['ok', 'twice', 'dead'] as const

/** One step of the load: what is requested, and what the client does with the capture. */
export type PlannedStep = {
  readonly atMs: number
  readonly operation: (typeof operations)[number]
  readonly source: (typeof sources)[number]
  readonly receiver: (typeof receivers)[number]
  readonly followUp: (typeof followUps)[number]
  /** Which of the accounts without anything special it uses. */
  readonly account: number
}

/** All decisions of a run. */
export type Plan = {
  readonly seed: number
  readonly world: WorldKind
  readonly faults: readonly PlannedFault[]
  readonly load: readonly PlannedStep[]
  /** When the pool is paused, and for how long once nothing runs. */
  readonly pause: { readonly atMs: number; readonly forMs: number } | undefined
  /** When the account `moved` moves to the other cell. */
  readonly moveAtMs: number | undefined
}

const steps = { first: 10, more: 7, everyMs: 700 }
/** Every how many runs, by chance, the pool is paused, and with two cells an account moves. Both take some ten seconds. */
const [pauseRuns, moveRuns] = [4, 2]
const pausedMs = 1500
/** Consecutive seeds with the same world, because they can share an installation. */
const seedsPerWorld = 10
const kinds = ['files', 's3', 'replicated', 'cells'] as const satisfies readonly WorldKind[]

/** A kill is instant, whatever duration is chosen. */
const durationOf = (drawnMs: number, forMs = drawnMs): number => (drawnMs > 0 ? forMs : 0)

const isPossible = (name: string, world: WorldKind) => faults[name]?.worlds?.includes(world) ?? true

/** Chosen instead of drawn: names of the faults, the world, and the duration of faults that are not instant. */
type PlanOptions = {
  readonly only?: readonly string[] | undefined
  readonly world?: WorldKind
  readonly forMs?: number | undefined
}

/** The plan with the move of an account, which a quarter of its steps use. */
const withMove = (plan: Plan, moveAtMs: number): Plan => ({
  ...plan,
  moveAtMs,
  load: plan.load.map((step, index) => (index % 4 === 0 ? { ...step, operation: 'moved' } : step)),
})

/** The decisions of the run with this seed. Pure: the same arguments give the same plan. */
export const planRun = (seed: number, { only, world: on, forMs }: PlanOptions = {}): Plan => {
  const below = seeded(seed * 7919)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const bySeed = kinds[Math.floor(seed / seedsPerWorld) % kinds.length]!
  const possible = kinds.filter((kind) => (only ?? []).every((name) => isPossible(name, kind)))
  const world = on ?? (possible.includes(bySeed) ? bySeed : (possible[0] ?? bySeed))
  const names = Object.keys(faults).filter((name) => isPossible(name, world))
  const drawn = Array.from({ length: 1 + below(2) }, () => pick(names))
  const load = Array.from({ length: steps.first + below(steps.more) }, (_, n) => ({
    atMs: n * steps.everyMs + below(steps.everyMs),
    operation: pick(operations),
    source: pick(sources),
    receiver: pick(receivers),
    followUp: pick(followUps),
    account: below(100),
  }))
  const atMs = () => 500 + below(4000)
  const plan: Plan = {
    seed,
    world,
    faults: [...new Set(only?.filter((name) => isPossible(name, world)) ?? drawn)].map((name) => ({
      name,
      atMs: atMs(),
      forMs: durationOf(pick(faults[name]?.durationsMs ?? [0]), forMs),
    })),
    load,
    pause: below(pauseRuns) === 0 ? { atMs: atMs(), forMs: pausedMs } : undefined,
    moveAtMs: undefined,
  }
  return below(moveRuns) === 0 && world === 'cells' ? withMove(plan, atMs()) : plan
}

/** Faults in a representative run. */
const groupFaults = 4

const firstMs = 1000

/** Runs in which each fault happens once, four in a run; those of one world follow each other. The pool is paused once, and an account moves once. */
export const planRepresentative = (seed: number): Plan[] => {
  const worldOf = (name: string, index: number): WorldKind => {
    const { worlds = ['files', 's3', 'cells'] as const } = faults[name]!
    return worlds[index % worlds.length]!
  }
  const byWorld = Map.groupBy(
    Object.keys(faults).map((name, index) => ({ name, world: worldOf(name, index) })),
    ({ world }) => world,
  )
  // Neighbours are alike, and those of one proxy replace each other.
  const groups = [...byWorld].flatMap(([world, all]) => {
    const count = Math.ceil(all.length / groupFaults)
    const namesOf = (group: number) => all.flatMap(({ name }, index) => (index % count === group ? [name] : []))
    return Array.from({ length: count }, (_, group) => ({ world, names: namesOf(group) }))
  })
  return groups.map(({ world, names }, index) => {
    const isFirst = groups.findIndex((group) => group.world === world) === index
    const pause = isFirst && world === 'files' ? { atMs: firstMs, forMs: pausedMs } : undefined
    const plan: Plan = { ...planRun(seed + index, { only: names, world }), pause, moveAtMs: undefined }
    return isFirst && world === 'cells' ? withMove(plan, firstMs) : plan
  })
}
