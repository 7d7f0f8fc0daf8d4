import { type Database, openDatabase } from '#shared/db/connection.ts'
import { grantToServices, type ServiceRoles } from '#shared/db/service-roles.ts'

/** Opens a database under the role of a service, with what `migrate` grants it. The caller closes it. */
export const openServiceDatabase = async (
  database: Database & { readonly url: string },
  service: keyof ServiceRoles,
): Promise<Database & { readonly url: string }> => {
  const role = `test_${service}`
  // Databases of one server share its roles.
  await database.query(
    `do $$ begin create role ${role} login; exception when duplicate_object or unique_violation then null; end $$`,
  )
  await grantToServices(database, { [service]: role })
  const url = new URL(database.url)
  url.username = role
  return { ...openDatabase({ url: url.href, poolMax: 10 }), url: url.href }
}
