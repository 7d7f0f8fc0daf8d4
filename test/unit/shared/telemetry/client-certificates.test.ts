import { join } from 'node:path'
import t from 'tap'
import { makeSelfSigned } from '#cli/cluster/self-signed.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createRecordingLog, type LogLine } from '#test/helpers/recording-log.ts'

const untilSeconds = 2_000_000_000
const { certificate, key } = makeSelfSigned(['localhost'], 0, untilSeconds * 1000)

t.test(
  'client certificates: each end is a metric, also of one behind its authorities; an unreadable one is counted',
  async (t) => {
    const other = makeSelfSigned(['authority'], 0, 1_000_000_000_000).certificate
    const folder = t.testdir({ 'tls.crt': certificate + other })
    const metrics = createMetrics('test')
    const lines: LogLine[] = []
    const events = createCertificateEvents(
      createRecordingLog((line) => void lines.push(line)),
      metrics,
    )
    const databaseUrl = `postgres://a@b/c?sslcert=${join(folder, 'tls.crt')}`
    using _reports = reportClientCertificates({ databaseUrl, natsCertificateFile: join(folder, 'none') }, events)
    await eventually(() => lines.length > 0)
    const text = await metrics.text()
    t.match(text, `shutterfleet_certificate_not_after_seconds{name="postgresql",component="test"} ${untilSeconds}`)
    t.match(text, 'shutterfleet_certificate_read_failures_total{name="nats",component="test"} 1')
    t.match(lines, [{ level: 'error', fields: { name: 'nats', reason: /ENOENT/ } }])
  },
)

t.test('client certificates: none is reported without settings, nor anything of a key in its place', async (t) => {
  const metrics = createMetrics('test')
  const lines: LogLine[] = []
  const events = createCertificateEvents(
    createRecordingLog((line) => void lines.push(line)),
    metrics,
  )
  using _none = reportClientCertificates({ databaseUrl: 'postgres://a:b@c/d', natsCertificateFile: '' }, events)
  const folder = t.testdir({ key })
  using _key = reportClientCertificates({ natsCertificateFile: join(folder, 'key') }, events)
  await eventually(() => lines.length > 0)
  t.notMatch(await metrics.text(), /not_after_seconds\{/)
  t.notMatch(JSON.stringify(lines), key.split('\n')[1] ?? '')
})
