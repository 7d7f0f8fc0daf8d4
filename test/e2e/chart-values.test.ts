import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chartFolder, ciPath, objectsOf, renderText, unusedValues } from '#test/helpers/chart.ts'
import { inShard } from '#test/helpers/in-shard.ts'
import { listLeaves, readValues } from '#tools/docs/chart/read-values.ts'

const leaves = listLeaves(readValues(await readFile(join(chartFolder, 'values.yaml'), 'utf8')))

t.test('chart: every value is documented and used', async (t) => {
  const undocumented = (all: typeof leaves) => all.filter(({ help }) => help === '').map(({ path }) => path.join('.'))
  t.strictSame(undocumented(leaves), [])
  t.strictSame(undocumented(listLeaves(readValues('a:\n  # About b.\n  b: 1\n  c: 2\n'))), ['a.c'])

  const folder = t.testdir()
  const chart = join(folder, 'shutterfleet')
  await cp(chartFolder, chart, { recursive: true })
  for (const [path, text] of [
    ['rules/sample.yaml', 'groups: []'],
    ['dashboards/sample.json', '{}'],
  ] as const) {
    await mkdir(join(chart, 'files', path, '..'), { recursive: true })
    await writeFile(join(chart, 'files', path), text)
  }
  const paths = leaves.map(({ path }) => path)
  t.strictSame(await unusedValues(inShard(paths), { chart, folder }), [])
  t.strictSame(await unusedValues([['gateway', 'nobody']], { chart, folder }), ['gateway.nobody'])
})

t.test(
  'chart: dashboards link to those of their release, and name its console and the base of its runbooks',
  async (t) => {
    const set = [
      'metrics.dashboards=true',
      'metrics.runbooksUrl=https://git.example.com/',
      'publicUrl=https://s.example.com',
    ]
    const text = await renderText(
      ciPath('monitoring'),
      'helm4',
      set.map((each) => `--set=${each}`),
    )
    const dashboards = objectsOf(text).flatMap(({ kind, metadata, data = {} }) =>
      kind === 'ConfigMap' && metadata.name.includes('-dashboard-')
        ? Object.values(data as Record<string, string>)
        : [],
    )
    t.equal(dashboards.length, (await readdir(join(chartFolder, 'files/dashboards'))).length)
    const own = dashboards.map((each) => (JSON.parse(each) as { uid: string }).uid)
    for (const each of dashboards) {
      for (const [, uid = ''] of each.matchAll(/"\/d\/([^"]+)"/g)) t.ok(own.includes(uid), uid)
      t.match(each, '"query": "https://git.example.com/"')
      t.match(each, '"query": "https://s.example.com"')
    }
  },
)
