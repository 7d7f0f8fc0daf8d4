import type { StoreKind } from './store-proxy.ts'
import type { World } from './world.ts'

/** A fault; `begin` injects it and returns what ends it. */
export type Fault = {
  /** The driver that it needs; absent: either. */
  readonly store?: StoreKind
  readonly durationsMs: readonly number[]
  readonly begin: (world: World) => Promise<() => Promise<void>>
}
