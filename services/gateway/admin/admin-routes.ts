import { accountRoutes } from './account-routes.ts'
import type { AdminRoute } from './admin-route.ts'
import { installationRoutes } from './installation-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { poolRoutes } from './pool-routes.ts'
import { queueRoutes } from './queue-routes.ts'
import { serviceRoutes } from './service-routes.ts'
import { signInRoutes } from './sign-in-routes.ts'

/** All operations of the admin API. */
export const adminRoutes: readonly AdminRoute[] = [
  ...accountRoutes,
  ...keyRoutes,
  ...signInRoutes,
  ...queueRoutes,
  ...serviceRoutes,
  ...installationRoutes,
  ...poolRoutes,
]
