import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { poolLabels } from '#shared/kube/names.ts'
import { childFields } from './deployment.ts'

/** How many workers node drains may take at once; of few workers one. */
const maxUnavailable = '20%'

/** What of a pool's PodDisruptionBudget the controller decides: all of it. */
export const budgetFields = (pool: BrowserPool): ReturnType<typeof childFields> =>
  childFields(pool, {
    maxUnavailable,
    selector: { matchLabels: poolLabels(pool.metadata.name) },
    // A worker that does not work must not keep its node from being emptied.
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  })
