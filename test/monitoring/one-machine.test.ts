import t from 'tap'
import { readDashboards, testQueries } from '#test/helpers/dashboard-queries.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startMonitoredSystem } from '#test/helpers/monitored-system.ts'
import { prometheusPollMs as everyMs } from '#test/helpers/prometheus.ts'
import { withoutRealProxies } from '#test/helpers/real-proxies.ts'

/** Values of the load that no label may contain: hosts and ids of captures. */
const secret = /127\.0\.0\.1|no-such-host|localhost|[0-9a-f]{8}-[0-9a-f]{4}-/
const skip = withoutRealProxies()

t.test('one machine: a system under load has data, bounded labels and no firing alert', { skip }, async (t) => {
  await using world = await startMonitoredSystem()
  const { prometheus } = world
  await t.test('one machine: every panel has data', (t) =>
    testQueries(t, prometheus, readDashboards({ isKubernetes: false })),
  )
  await t.test('one machine: no label but account contains a host, an address or an id', async (t) => {
    const series = await prometheus.query('{__name__=~"shutterfleet_.+"}', 1)
    t.ok(series.length > 500)
    const values = series.flatMap(({ metric: { instance: _instance, account: _account, ...labels } }) =>
      Object.values(labels),
    )
    t.strictSame(
      values.filter((value) => secret.test(value)),
      [],
    )
  })
  await t.test('one machine: every rule is evaluated, and no alert stays pending or fires', async (t) => {
    await eventually(async () => (await prometheus.rules()).every(({ health }) => health !== 'unknown'))
    const rules = await prometheus.rules()
    t.ok(rules.length > 20)
    t.strictSame(
      rules.filter(({ health, state }) => health !== 'ok' || state === 'firing'),
      [],
    )
    // The load comes in bursts: an alert may be pending now, but must be inactive at some time.
    const active = new Set(rules.map(({ name }) => name))
    const isQuiet = async () => {
      for (const { name, state = 'inactive' } of await prometheus.rules()) if (state === 'inactive') active.delete(name)
      return active.size === 0
    }
    await eventually(isQuiet, { withinMs: 180_000, everyMs, what: 'each alert inactive at some time' })
  })
})
