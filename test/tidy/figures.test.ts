import t from 'tap'
import { figures } from './checks/figures.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const page = { 'docs/benchmarks.md': '# Benchmarks\n\n## Start\n\nMedian 3 s\n' }
const tree = (text: string, path = 'services/a.ts') => ({ ...page, [path]: text })
const folders = ['services', 'charts', 'k8s', 'scripts', 'test', 'tools', 'docs']

await testCheck(t, {
  check: figures,
  real: () => figures([...folders.flatMap(readTree), ...readTree('').filter(({ path }) => /^[A-Z]+\.md$/.test(path))]),
  bad: [
    { name: 'a figure without its part', tree: tree('/** p99 is then 42 ms. */'), at: ['services/a.ts:1'] },
    {
      name: 'a figure on another line than its word',
      tree: tree('const a = 1\n// Measured with one slot:\n// 361 MiB.'),
      at: ['services/a.ts:2'],
    },
    { name: 'a figure in YAML', tree: tree('a: 1\n# the median is 4 s\n', 'charts/a.yaml'), at: ['charts/a.yaml:2'] },
    {
      name: 'a part that does not exist',
      tree: tree('/** p99 is then 42 ms (docs/benchmarks.md, "Stop"). */'),
      at: ['services/a.ts:1'],
    },
    {
      name: 'a part that does not exist, named without a figure',
      tree: tree('/** See\n * docs/benchmarks.md,\n * "Stop". */'),
      at: ['services/a.ts:1'],
    },
    {
      name: 'a figure of the page without its part',
      tree: tree('It takes 3 s\n([benchmarks](benchmarks.md)).', 'docs/a.md'),
      at: ['docs/a.md:1'],
    },
    {
      name: 'a page that names a part that does not exist',
      tree: tree('See [benchmarks.md](benchmarks.md), "Stop".', 'docs/a.md'),
      at: ['docs/a.md:1'],
    },
  ],
  good: [
    { name: 'a figure with its part', tree: tree('/**\n * p99 is 42 ms (docs/benchmarks.md,\n * "Start"). */') },
    { name: 'a figure of a decision', tree: tree('/** Measured: 42 ms (ADR 8). */') },
    { name: 'a bound', tree: tree('/** Each ends within 30 s. */') },
    { name: 'words of measurement without a figure', tree: tree('/** Assumed until the first was measured. */') },
    { name: 'code', tree: tree("const heading = 'p99 42 ms'") },
    { name: 'a setting on a page', tree: tree('A median of the last 30 s', 'docs/a.md') },
    { name: 'a page that names a part', tree: tree('3 s ([benchmarks.md](benchmarks.md), "Start")', 'docs/a.md') },
    { name: 'a decision, which is history', tree: tree('3 s ([benchmarks](../benchmarks.md))', 'docs/adr/1.md') },
  ],
})
