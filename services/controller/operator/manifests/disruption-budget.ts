import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { poolSelector } from '#shared/kube/names.ts'
import { childFields } from './deployment.ts'

/** How many workers node drains may take at once; of few workers one. */
const maxUnavailable = '20%'

/** What of a pool's PodDisruptionBudget the controller decides: all of it. */
export const budgetFields = (pool: BrowserPool, instance: string): ReturnType<typeof childFields> =>
  childFields(pool, instance, {
    maxUnavailable,
    selector: { matchLabels: poolSelector(instance, pool.metadata.name) },
    // A worker that does not work must not keep its node from being emptied.
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  })
