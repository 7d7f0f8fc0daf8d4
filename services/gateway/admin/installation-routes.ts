import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describePools } from '#gateway/db/describe-pools.ts'
import type { AdminRoute } from './admin-route.ts'

const packageFile = join(import.meta.dirname, '../../../package.json')

const readVersion = async (): Promise<string> =>
  (JSON.parse(await readFile(packageFile, 'utf8')) as { readonly version: string }).version

/** The installation at work: health and pools. */
export const installationRoutes: readonly AdminRoute[] = [
  {
    method: 'GET',
    path: '/health',
    run: async ({ health }) => {
      const { clients, ...stores } = health().detail
      return {
        version: await readVersion(),
        node: process.versions.node,
        started_at: new Date(performance.timeOrigin).toISOString(),
        stores: Object.entries(stores).map(([name, state]) => ({ name, state })),
        advice: clients ?? null,
      }
    },
  },
  {
    method: 'GET',
    path: '/pools',
    run: async ({ database }) => describePools(database),
  },
]
