import type { TAP } from 'tap'
import { prepareForWorlds } from './prepare-for-worlds.ts'
import type { Damage } from './world/audit.ts'
import type { MissingGuard } from './world/missing-guards.ts'
import { type Fault, playFault } from './world/run.ts'

/** Runs with different chance, each a world of its own. */
const seeds = Array.from({ length: 50 }, (_, index) => index + 1)
/** Worlds in which the damage of a missing guard is looked for. */
const canarySeeds = seeds.slice(0, 12)

/** A guard, and the damage that is done without it. */
export type Canary = { readonly missing: () => MissingGuard; readonly shows: Damage['what'] }

/** Plays a fault with every seed, then without each of the guards that keep damage away. */
export const testFault = (t: TAP, fault: () => Fault, canaries: readonly Canary[]): void => {
  prepareForWorlds(t)
  const { name } = fault()
  t.test(`nothing is damaged where ${name}`, async (of) => {
    for (const seed of seeds) {
      const { damages } = await playFault({ seed, fault: fault() })
      of.strictSame(damages, [], `seed ${seed}`)
    }
  })
  for (const { missing, shows } of canaries) {
    t.test(`planted fault, where ${name}: ${missing().name}`, async (of) => {
      of.ok(await isShown(fault, missing, shows), `some seed shows: ${shows}`)
    })
  }
}

const isShown = async (fault: () => Fault, missing: () => MissingGuard, shows: Damage['what']): Promise<boolean> => {
  for (const seed of canarySeeds) {
    const { meddling, take } = missing()
    const taken = take?.()
    try {
      const { damages } = await playFault({ seed, fault: fault(), ...(meddling && { meddling }) })
      if (damages.some(({ what }) => what === shows)) return true
    } finally {
      taken?.[Symbol.dispose]()
    }
  }
  return false
}
