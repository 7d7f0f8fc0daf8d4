import { join } from 'node:path'
import t from 'tap'
import { readLocalSettings } from '#local/local-settings.ts'

t.test('local settings: by default runs everything itself, with workers for the cores of the machine', (t) => {
  t.match(readLocalSettings({}, 3), {
    data: '.shutterfleet',
    gatewayPort: 8080,
    poolMax: 3,
    stealthMax: 2,
    proxiedMax: 3,
    poolIdleCores: 3,
    givenDatabaseUrl: undefined,
    givenNatsUrl: undefined,
    s3Url: undefined,
    allowTargets: [],
  })
  const settings = { SHUTTERFLEET_POOL_MAX: '7', SHUTTERFLEET_PROXIED_MAX: '5' }
  t.match(readLocalSettings(settings, 3), { poolMax: 7, proxiedMax: 5 })
  t.end()
})

t.test('local settings: reports all faults at once', (t) => {
  const env = { SHUTTERFLEET_GATEWAY_PORT: 'x', SHUTTERFLEET_DATABASE_URL: 'mysql://', SHUTTERFLEET_TYPO: '1' }
  t.throws(() => readLocalSettings(env, 1), {
    code: 'CONFIGURATION',
    message: /GATEWAY_PORT[^]*DATABASE_URL|DATABASE_URL[^]*GATEWAY_PORT/,
  })
  t.throws(() => readLocalSettings(env, 1), { message: /SHUTTERFLEET_TYPO is not a setting/ })
  t.end()
})

t.test('local settings: reports wrong settings of services before anything starts', (t) => {
  const env = { SHUTTERFLEET_SYNC_QUEUE_MS: 'soon', SHUTTERFLEET_ADMIN_TOKEN: 'short-secret' }
  t.throws(() => readLocalSettings(env, 1), {
    code: 'CONFIGURATION',
    message:
      /^SHUTTERFLEET_SYNC_QUEUE_MS = soon, must be .*\nSHUTTERFLEET_ADMIN_TOKEN = \(hidden\), must have at least 16/,
  })
  const path = join(t.testdir({ token: 'short-secret' }), 'token')
  t.throws(() => readLocalSettings({ SHUTTERFLEET_ADMIN_TOKEN_FILE: path }, 1), { message: /ADMIN_TOKEN = \(hidden\)/ })
  t.doesNotThrow(() => readLocalSettings({ SHUTTERFLEET_ADMIN_TOKEN: 'x'.repeat(16) }, 1))
  t.end()
})
