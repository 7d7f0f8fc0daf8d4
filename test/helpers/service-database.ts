import { type Database, openDatabase } from '#shared/db/connection.ts'
import type { RoleHolder } from '#shared/config/settings/database-roles.ts'
import { grantToServices } from '#shared/db/service-roles.ts'

/** The tests' role of a service. */
export const roleOf = (service: RoleHolder): string => `test_${service}`

/** Creates the role of a service, with what `migrate` grants it; returns the address of the database for it. */
export const serviceUrl = async (
  database: Database & { readonly url: string },
  service: RoleHolder,
): Promise<string> => {
  const role = roleOf(service)
  // Databases of one server share its roles.
  await database.query(
    `do $$ begin create role ${role} login; exception when duplicate_object or unique_violation then null; end $$`,
  )
  await database.transaction((sql) => grantToServices(sql, { [service]: role }))
  const url = new URL(database.url)
  url.username = role
  return url.href
}

/** Opens a database under the role of a service. The caller closes it. */
export const openServiceDatabase = async (
  database: Database & { readonly url: string },
  service: RoleHolder,
  poolMax = 10,
): Promise<Database & { readonly url: string }> => {
  const url = await serviceUrl(database, service)
  return { ...openDatabase({ url, poolMax }), url }
}
