import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chartFolder, unusedValues } from '#test/helpers/chart.ts'
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
  t.strictSame(await unusedValues(paths, { chart, folder }), [])
  t.strictSame(await unusedValues([['gateway', 'nobody']], { chart, folder }), ['gateway.nobody'])
})
