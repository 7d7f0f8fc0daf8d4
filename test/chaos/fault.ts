import type { World, WorldKind } from './world.ts'

/** A fault; `begin` injects it and returns what ends it. */
export type Fault = {
  /** The worlds in which it is possible; absent: all. */
  readonly worlds?: readonly WorldKind[]
  readonly durationsMs: readonly number[]
  readonly begin: (world: World) => Promise<() => Promise<void>>
}
