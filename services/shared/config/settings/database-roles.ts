/** Services that may connect under a role of their own, which is not the owner of the database. */
export const roleServices = ['gateway', 'ledger', 'webhooks'] as const

/** A service that may have a role. */
export type RoleHolder = (typeof roleServices)[number]

/** Roles by service. */
export type ServiceRoles = Readonly<Partial<Record<RoleHolder, string>>>

/** Roles as `gateway=NAME,webhooks=NAME`, each service at most once; undefined if it is something else. */
export const parseRoles = (value: string): ServiceRoles | undefined => {
  const roles: Partial<Record<RoleHolder, string>> = {}
  for (const part of value === '' ? [] : value.split(',')) {
    const [, service = '', role = ''] = /^([a-z]+)=([a-z_][a-z0-9_-]{0,62})$/.exec(part) ?? []
    const known = roleServices.find((each) => each === service)
    if (known === undefined || roles[known] !== undefined) return undefined
    roles[known] = role
  }
  return roles
}
