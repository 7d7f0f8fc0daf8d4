import { AppError } from '#shared/errors/app-error.ts'
import { operatorActor } from '#gateway/db/sessions.ts'
import { viewOperations } from '#gateway/operations/console/view-account.ts'
import type { Served } from '#gateway/operations/operation.ts'
import type { Admin, AdminRoute } from './admin-route.ts'
import { adminRoutes } from './admin-routes.ts'

const nameOf = ({ method, path }: AdminRoute): string =>
  `operator_${`${method}${path}`.toLowerCase().replaceAll(/\W+/g, '_')}`

const toServed = (admin: Admin, route: AdminRoute): Served => ({
  name: nameOf(route),
  method: route.method,
  path: `/api/operator${route.path}`,
  access: 'operator',
  bodyBytesMax: route.bodyBytesMax,
  run: async (_context, exchange) => {
    if (!exchange.session) throw new AppError('UNAUTHORIZED')
    return await route.run(admin, operatorActor(exchange.session), exchange)
  },
})

/**
 * What operators may request in the console, below `/console`: the operations of the admin API, but for those that give out
 * credentials, which would outlive a stolen session; and to look into an account.
 */
export const operatorOperations = (admin: Admin): readonly Served[] => [
  ...viewOperations,
  ...adminRoutes.filter(({ givesCredential }) => !givesCredential).map((route) => toServed(admin, route)),
]
