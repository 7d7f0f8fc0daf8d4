import t from 'tap'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { createRecordingLog, type LogLine } from '#test/helpers/recording-log.ts'

t.test(
  'identity events: each failure is counted, and logged once until its reason changes or it is over',
  async (t) => {
    const metrics = createMetrics('test')
    const lines: LogLine[] = []
    const log = createRecordingLog((line) => void lines.push(line))
    const { identityReports } = createIdentityEvents(log, metrics)
    const [keys, password] = [identityReports('object_store'), identityReports('postgresql')]
    keys.renewed(2_000_000_000_000)
    password.renewed()
    t.strictSame(lines, [], 'renewals as planned are not logged')

    const setting = 'SHUTTERFLEET_S3_KEYS_FROM'
    for (const reason of ['STS is down', 'STS is down', 'the token has expired'])
      keys.failed(setting, new Error(reason))
    password.failed('SHUTTERFLEET_DATABASE_PASSWORD_FILE', new Error('it is empty'))
    keys.renewed(2_000_000_003_600)
    keys.renewed(2_000_000_007_200)
    t.match(lines, [
      { level: 'error', fields: { name: 'object_store', setting, reason: 'Error: STS is down' } },
      { level: 'error', fields: { name: 'object_store', setting, reason: 'Error: the token has expired' } },
      { level: 'error', fields: { name: 'postgresql', setting: 'SHUTTERFLEET_DATABASE_PASSWORD_FILE' } },
      { level: 'info', fields: { name: 'object_store' } },
    ])
    t.equal(lines.length, 4)

    const text = await metrics.text()
    t.match(text, 'shutterfleet_identity_renewal_failures_total{name="object_store",component="test"} 3')
    t.match(text, 'shutterfleet_identity_renewal_failures_total{name="postgresql",component="test"} 1')
    t.match(text, 'shutterfleet_identity_not_after_seconds{name="object_store",component="test"} 2000000007.2')
    t.notMatch(text, /identity_not_after_seconds{name="postgresql"/, 'a password has no end')
  },
)
