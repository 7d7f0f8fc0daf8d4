import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'charts/shutterfleet/files/dashboards')

/** What these rules read of Grafana's format. */
type Dashboard = {
  readonly uid: string
  readonly templating: { readonly list: readonly { readonly name: string }[] }
  readonly annotations?: { readonly list: readonly { readonly expr: string }[] }
  readonly panels: readonly {
    readonly id?: number
    readonly type: string
    readonly title: string
    readonly description?: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly links?: readonly { readonly url: string }[]
    readonly targets?: readonly { readonly expr: string; readonly refId: string; readonly legendFormat: string }[]
    readonly fieldConfig?: { readonly defaults: { readonly unit: string } }
  }[]
}

/** Variables that Grafana defines. */
const builtIn = ['__rate_interval', '__interval', '__range', '__field', '__all']

const usedVariables = (dashboard: Dashboard) => [
  ...new Set(
    [...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)].flatMap(([, name = '']) => (/^\d/.test(name) ? [] : name)),
  ),
]

const missingVariables = (dashboard: Dashboard): string[] => {
  const defined = dashboard.templating.list.map(({ name }) => name)
  return usedVariables(dashboard).filter((name) => ![...defined, ...builtIn].includes(name))
}

const badLinks = ({ panels }: Dashboard, uids: readonly string[]): string[] =>
  panels
    .flatMap(({ links = [] }) => links.map(({ url }) => url))
    .filter((url) => {
      const [, uid] = /^\/d\/([a-z-]+)$/.exec(url) ?? []
      const [, page] = /^\$\{runbooks:raw\}(docs\/runbooks\/.+)$/.exec(url) ?? []
      if (page !== undefined) return !existsSync(join(root, page))
      return uid === undefined ? !url.startsWith('${console:raw}/console/') : !uids.includes(uid)
    })

const overlaps = ({ panels }: Dashboard): string[] =>
  panels.flatMap(({ title, gridPos: one }, index) =>
    panels.slice(index + 1).flatMap(({ title: other, gridPos: two }) => {
      const isBeside = one.x + one.w <= two.x || two.x + two.w <= one.x
      const isAbove = one.y + one.h <= two.y || two.y + two.h <= one.y
      return isBeside || isAbove ? [] : [`${title}, ${other}`]
    }),
  )

const badQueries = ({ panels }: Dashboard): string[] =>
  panels.flatMap(({ type, title, targets = [], fieldConfig }) => {
    if (type === 'row') return []
    const isScoped = targets.every(({ expr }) => expr.includes('namespace=~"$namespace"'))
    const ids = new Set(targets.map(({ refId }) => refId))
    return targets.length > 0 && isScoped && ids.size === targets.length && fieldConfig?.defaults.unit ? [] : [title]
  })

const files = readdirSync(folder)
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Dashboard
const uids = files.map((file) => read(file).uid)

for (const file of files) {
  t.test(`dashboards: ${file} uses its own variables, existing pages and the chosen namespaces`, async (t) => {
    const dashboard = read(file)
    for (const found of [missingVariables(dashboard), badLinks(dashboard, uids), overlaps(dashboard)])
      t.strictSame(found, [])
    t.strictSame(badQueries(dashboard), [])
  })
}

/** Pixels of a grid row of Grafana with its gap; above the grid are its navigation, the title and the variables. */
const grid = { rowPixels: 38, abovePixels: 170 }

t.test('dashboards: the overview fits a screen of 1,920 x 1,080: eight numbers above two graphs', async (t) => {
  const { panels } = read('overview.json')
  t.strictSame(
    panels.map(({ type }) => type),
    [...Array.from({ length: 8 }, () => 'stat'), 'timeseries', 'timeseries'],
  )
  const rows = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h))
  t.ok(grid.abovePixels + rows * grid.rowPixels <= 1080, `${rows} rows`)
})

t.test('dashboards: every panel has a description', async (t) => {
  for (const file of files) {
    const without = read(file).panels.filter(({ type, description = '' }) => type !== 'row' && description === '')
    t.strictSame(
      without.map(({ title }) => title),
      [],
      file,
    )
  }
})

t.test('dashboards: each of these rules finds a planted fault', async (t) => {
  const overview = read('overview.json')
  const text = JSON.stringify(overview)
  const change = (from: string, to: string) => JSON.parse(text.replaceAll(from, to)) as Dashboard
  t.strictSame(missingVariables(change('"name":"console"', '"name":"konsole"')), ['console'])
  t.ok(badLinks(change('runbooks/queue-wait.md', 'runbooks/queue-weight.md'), uids).length > 0)
  t.ok(badLinks(change('/d/shutterfleet-pools', '/d/shutterfleet-ponds'), uids).length > 0)
  t.ok(overlaps(change('"x":12', '"x":11')).length > 0)
  t.ok(badQueries(change('namespace=~\\"$namespace\\"', 'pod=\\"a\\"')).length > 0)
})
