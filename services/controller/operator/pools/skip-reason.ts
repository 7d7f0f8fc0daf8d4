import type { BrowserPool, BrowserPoolStatus } from '#shared/kube/browser-pool.ts'
import { poolSelector, selectorOf } from '#shared/kube/names.ts'
import { holderOf, type ownersOf } from './queue-owners.ts'
import { conditionOf } from '#controller/operator/status/pool-status.ts'
import { misunderstandingOf } from './unsupported-spec.ts'

/** Why pools are left alone, in the words of the column REASON. */
export const asideWords = ['pool-taken', 'not-understood'] as const

/** Why a pool is left alone. */
export type Aside = {
  readonly reason: 'PoolTaken' | 'ApplyFailed'
  readonly message: string
  readonly word: (typeof asideWords)[number]
}

/** Why a pool is left alone; undefined of one that is kept. */
export const asideOf = (pool: BrowserPool, owners: ReturnType<typeof ownersOf>): Aside | undefined => {
  const misunderstanding = misunderstandingOf(pool)
  if (misunderstanding !== undefined) {
    const message = `This controller does not understand ${misunderstanding}. Is another CustomResourceDefinition installed?`
    return { reason: 'ApplyFailed', message, word: 'not-understood' }
  }
  const holder = holderOf(owners, pool)
  if (!holder) return undefined
  const { name } = holder.metadata
  const message = `The queue of ${pool.spec.pool} is the older BrowserPool ${name}'s already; this one is left alone.`
  return { reason: 'PoolTaken', message, word: 'pool-taken' }
}

/** What is said of a pool that is left alone. */
export const statusAside = (
  of: { readonly pool: BrowserPool; readonly instance: string; readonly at: Date },
  { reason, message, word }: Aside,
): BrowserPoolStatus => ({
  observedGeneration: of.pool.metadata.generation,
  reason: word,
  selector: selectorOf(poolSelector(of.instance, of.pool.metadata.name)),
  conditions: [
    conditionOf(of, 'Ready', { status: 'False', reason: 'WorkersMissing', message }),
    conditionOf(of, 'Reconciling', { status: 'False', reason: 'Reconciled', message: 'The pool is left alone.' }),
    conditionOf(of, 'Stalled', { status: 'True', reason, message }),
    conditionOf(of, 'Degraded', { status: 'True', reason, message }),
  ],
})
