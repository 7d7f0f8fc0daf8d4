import t from 'tap'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { type Health, startProbeServer } from '#shared/telemetry/probe-server.ts'

t.test(
  'probe server: separates liveness from readiness, serves metrics as the scraper accepts them, and fails if health throws',
  async (t) => {
    const metrics = createMetrics('test', {}, { withExemplars: true })
    metrics.declare({ things_total: { counter: 'things', labels: ['kind'] } }).things_total.inc({ kind: 'good' })
    let health = (): Health => ({ live: true, ready: true, detail: { database: 'answers' } })
    await using probes = await startProbeServer(
      { probeHost: '127.0.0.1', probePort: 0 },
      { metrics, health: () => health() },
    )
    const fetchStatus = async (path: string) => (await fetch(probes.url + path)).status
    t.strictSame(await Promise.all(['/livez', '/readyz', '/metrics', '/'].map(fetchStatus)), [200, 200, 200, 404])
    const text = await (await fetch(`${probes.url}/metrics`)).text()
    t.match(text, 'shutterfleet_things_total{kind="good",component="test"} 1')

    const open = { headers: { accept: 'application/openmetrics-text' } }
    const types = await Promise.all([fetch(`${probes.url}/metrics`), fetch(`${probes.url}/metrics`, open)])
    t.match(
      types.map(({ headers }) => headers.get('content-type')),
      [/text\/plain/, /openmetrics/],
    )

    health = () => ({ live: true, ready: false, detail: { database: 'is away' } })
    t.strictSame(await Promise.all(['/livez', '/readyz'].map(fetchStatus)), [200, 503])
    t.match(await (await fetch(`${probes.url}/readyz`)).json(), { detail: { database: 'is away' } })

    health = () => {
      throw new Error('broken')
    }
    t.strictSame(await Promise.all(['/livez', '/healthz'].map(fetchStatus)), [500, 200])
  },
)
