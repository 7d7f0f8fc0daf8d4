import t from 'tap'
import { promised } from '#test/batches/promised.ts'
import { promisedTests } from './checks/promised-tests.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const [one, two, unit] = ['test/integration/one.test.ts', 'test/integration/two.test.ts', 'test/unit/three.test.ts']
const naming = (point: string) => `// Contract: ${point}\nt.test('it holds', () => {})\n`
const promises = (tests: string) =>
  `\n## Promises\n| Promise to callers | Invariant | Tests |\n|---|---|---|\n| Kept | kept | ${tests} |\n`
const tree = ({ contract = 'Paths', guarantee = `\`${two}\`` }: { contract?: string; guarantee?: string } = {}) => ({
  'docs/http-contract.md': `| Point | Decision |\n|---|---|\n| ${contract} | So |\n`,
  'docs/guarantees.md': promises(guarantee),
  [one]: naming('Paths'),
  [unit]: naming('Sizes'),
})

await testCheck(t, {
  check: (files) => promisedTests(files, [one, two]),
  real: () => promisedTests([...readTree('docs'), ...readTree('test')], promised),
  bad: [
    {
      name: 'a point that no listed test verifies, and a listed test that verifies none',
      tree: tree({ contract: 'Keys' }),
      at: ['docs/http-contract.md:1', 'test/batches/promised.ts:1'],
    },
    {
      name: 'a guarantee whose test is not listed',
      tree: tree({ guarantee: '`test/integration/four.test.ts`' }),
      at: ['docs/guarantees.md:1', 'test/batches/promised.ts:1'],
    },
    {
      name: 'a listed test beside a unit test of the same promise',
      tree: tree({ guarantee: `\`${two}\`, \`${unit}\`` }),
      at: ['test/batches/promised.ts:1'],
    },
  ],
  good: [{ name: 'one listed test for each promise', tree: tree() }],
})
