// Renders the dashboards from live data into docs/images, as captures of the product itself, without Grafana. Runs a system
// under load for `seconds`.
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readDashboards } from '#test/helpers/dashboard-queries.ts'
import { startMonitoredSystem } from '#test/helpers/monitored-system.ts'
import { withoutRealProxies } from '#test/helpers/real-proxies.ts'
import { drawPage, drawPanel, drawRow } from './draw-panel.ts'

const seconds = 150
const images = resolve(import.meta.dirname, '../../docs/images')

const absent = withoutRealProxies()
if (absent !== false) throw new Error(absent)
await using world = await startMonitoredSystem()
const { system, prometheus } = world
await delay(seconds * 1000)
for (const { name, title, panels } of readDashboards({ isKubernetes: false })) {
  const drawn = await Promise.all(
    panels.map(async (panel, index) => {
      const answers = panel.queries.map(({ expr }) => prometheus.query(expr, seconds))
      const isFirst = panel.row !== '' && panel.row !== panels[index - 1]?.row
      return `${isFirst ? drawRow(panel.row) : ''}${drawPanel(panel, await Promise.all(answers))}`
    }),
  )
  const html = drawPage(title, drawn)
  const response = await system.post('/v1/screenshots/capture', { html, width: 1200, format: 'png', full_page: true })
  if (response.status !== 200) throw new Error(`${name}: ${await response.text()}`)
  const file = `dashboard-${name}.png`
  await writeFile(resolve(images, file), Buffer.from(await response.arrayBuffer()))
  console.log(`docs/images/${file}`)
}
