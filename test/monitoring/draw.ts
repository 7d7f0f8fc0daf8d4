// Renders the dashboards from live data into docs/images, light and dark, as captures of the product itself, without Grafana. Runs
// a system under load for `seconds`. With a folder as its argument, writes into that.
import { writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readDashboards } from '#test/helpers/dashboard-queries.ts'
import { startMonitoredSystem } from '#test/helpers/monitored-system.ts'
import { withoutRealProxies } from '#test/helpers/real-proxies.ts'
import { drawPage, drawPanel, drawRow, eventTimes } from './draw-panel.ts'

const seconds = 150
const images = resolve(process.argv[2] ?? resolve(import.meta.dirname, '../../docs/images'))

const absent = withoutRealProxies()
if (absent !== false) throw new Error(absent)
await using world = await startMonitoredSystem()
const { system, prometheus } = world
await delay(seconds * 1000)
for (const { name, title, panels, annotations } of readDashboards({ isKubernetes: false })) {
  const marked = await Promise.all(annotations.map(({ expr }) => prometheus.query(expr, seconds)))
  const events = eventTimes(marked.flat())
  const drawn = await Promise.all(
    panels.map(async (panel, index) => {
      const answers = panel.queries.map(({ expr }) => prometheus.query(expr, seconds))
      const isFirst = panel.row !== '' && panel.row !== panels[index - 1]?.row
      return `${isFirst ? drawRow(panel.row) : ''}${drawPanel(panel, await Promise.all(answers), events)}`
    }),
  )
  const html = drawPage(title, drawn)
  for (const [suffix, isDark] of [
    ['', false],
    ['-dark', true],
  ] as const) {
    const parameters = { html, width: 1200, format: 'png', full_page: true, dark_mode: isDark }
    const response = await system.post('/v1/screenshots/capture', parameters)
    if (response.status !== 200) throw new Error(`${name}: ${await response.text()}`)
    const file = resolve(images, `dashboard-${name}${suffix}.png`)
    await writeFile(file, Buffer.from(await response.arrayBuffer()))
    console.log(relative(process.cwd(), file))
  }
}
