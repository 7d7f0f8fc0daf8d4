import t from 'tap'
import { parseRoles } from '#shared/config/settings/database-roles.ts'

t.test('database roles: some services or none have one', (t) => {
  t.strictSame(parseRoles(''), {})
  t.strictSame(parseRoles('webhooks=shots_webhooks'), { webhooks: 'shots_webhooks' })
  t.strictSame(parseRoles('ledger=a,gateway=b-1'), { ledger: 'a', gateway: 'b-1' })
  t.end()
})

t.test('database roles: unknown and repeated services, and names that need quotes, are refused', (t) => {
  for (const value of [
    'controller=a',
    'ledger=a,ledger=b',
    'ledger=',
    'ledger=a b',
    'ledger=A',
    'a',
    ',',
    `ledger=${'a'.repeat(64)}`,
  ])
    t.equal(parseRoles(value), undefined, value)
  t.end()
})
