import type { TAP } from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import type { Damage } from './world/audit.ts'
import type { MissingGuard } from './world/missing-guards.ts'
import { type Fault, runFault } from './world/run.ts'

const seedsTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
/** Seeds of the runs; each run is a separate world. */
const seeds = seedsTo(Number(process.env['RUNS'] ?? 50))
/** Seeds of the runs without a guard; one of them must show the damage. */
const canarySeeds = seedsTo(48)

/** A guard, and the damage that a fault causes without it. */
export type Canary = { readonly missing: () => MissingGuard; readonly shows: Damage['what'] }

/** Tests that a fault causes no damage, and that it does without each of the guards. */
export const testFault = (t: TAP, fault: () => Fault, canaries: readonly Canary[]): void => {
  prepareForWorlds(t)
  const { name } = fault()
  t.test(`faults: no damage when ${name}`, async (of) => {
    for (const seed of seeds) {
      const { damages } = await runFault({ seed, fault: fault() })
      of.strictSame(damages, [], `seed ${seed}`)
    }
  })
  for (const { missing, shows } of canaries) {
    t.test(`planted fault: ${shows} when ${name} and ${missing().name}`, async (of) => {
      of.ok(await isShown(fault, missing, shows), `some seed shows: ${shows}`)
    })
  }
}

const isShown = async (fault: () => Fault, missing: () => MissingGuard, shows: Damage['what']): Promise<boolean> => {
  for (const seed of canarySeeds) {
    const { interceptors, take } = missing()
    const taken = take?.()
    try {
      const { damages } = await runFault({ seed, fault: fault(), ...(interceptors && { interceptors }) })
      if (damages.some(({ what }) => what === shows)) return true
    } finally {
      taken?.[Symbol.dispose]()
    }
  }
  return false
}
