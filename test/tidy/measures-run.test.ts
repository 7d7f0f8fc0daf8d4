import t from 'tap'
import { measuresRun } from './checks/measures-run.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'test/bench/measure-speed.ts'
const bench = { [path]: 'const a = 1\nexport const measureSpeed = async () => a' }
const test = 'test/lab/bench.test.ts'

await testCheck(t, {
  check: measuresRun,
  real: () => measuresRun(readSources()),
  bad: [
    { name: 'a measurement that no test calls', tree: bench, at: [`${path}:2`] },
    {
      name: 'a measurement that a test only imports',
      tree: { ...bench, [test]: `import { measureSpeed } from '#test/bench/measure-speed.ts'` },
      at: [`${path}:2`],
    },
    {
      name: 'a measurement of a longer name',
      tree: { ...bench, [test]: 'await measureSpeedOfLight(1)' },
      at: [`${path}:2`],
    },
    {
      name: 'a measurement that another measurement calls',
      tree: { ...bench, 'test/bench/run.ts': 'await measureSpeed(1)' },
      at: [`${path}:2`],
    },
  ],
  good: [
    { name: 'a measurement that a test calls', tree: { ...bench, [test]: 'await measureSpeed(1)' } },
    { name: 'what measures without being exported', tree: { [path]: 'const measureOne = 1' } },
  ],
})
