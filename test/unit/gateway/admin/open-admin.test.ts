import t from 'tap'
import type { Database } from '#shared/db/connection.ts'
import { openAdmin } from '#gateway/admin/open-admin.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

const gateway = { ...createTestContext(), database: {} as Database }
const open = (adminToken: string) => openAdmin(gateway, { adminToken, keyPepper: 'pepper', windowCaptures: 1 })

// Contract: Off without a token
t.test('there is no administration without a token', async (t) => {
  t.equal(open(''), undefined)
  await using admin = open('x'.repeat(16))
  t.ok(admin)
})
