import t from 'tap'
import type { AdminToken } from '#shared/config/settings/admin.ts'
import type { Database } from '#shared/db/connection.ts'
import { adminOf, openAdmin } from '#gateway/admin/admin-app.ts'
import { createTestContext } from '#test/helpers/gateway-context.ts'

const gateway = {
  ...createTestContext(),
  database: {} as Database,
  health: () => ({ live: true, ready: true, detail: {} }),
  natsVersion: () => undefined,
  fleet: { services: () => ({ pools: [], ledgerSilentMs: undefined }), workers: async () => [] },
}
const config = { keyPepper: 'pepper', consoleOperators: true, browserAgeDaysMax: 30, storageDriver: 'files' } as const
const admin = { ...gateway, ...adminOf(gateway, config, []) }
const open = (adminToken: string, adminTokens: readonly AdminToken[] = []) =>
  openAdmin(admin, { adminToken, adminTokens })

// Contract: Off without a token
t.test('admin app: is absent unless an admin token is set', async (t) => {
  t.equal(open(''), undefined)
  await using single = open('x'.repeat(16))
  t.ok(single)
  await using named = open('', [{ name: 'alice', token: 'x'.repeat(16) }])
  t.ok(named)
})
