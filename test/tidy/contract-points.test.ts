import t from 'tap'
import { contractPoints, type Waiting } from './checks/contract-points.ts'
import { findEdit } from '#test/mutations/find-edit.ts'
import { mutatedFile, guardOf } from '#test/mutations/mutation.ts'
import { mutations } from '#test/mutations/mutations.ts'
import { guards as chaosGuards } from '#test/chaos/guards.ts'
import { namedTests } from '#test/helpers/contract-points.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

/** Points whose parameters no worker supports yet; they get their tests with the parameters. */
const waiting: Waiting = {}

const contract = '| Point | Decision |\n|---|---|\n| Rate headers | On all |\n| `retina` | Two |\n'
const named = `// Contract: Rate headers\nt.test('they are on all', () => {})\n`
const tree = (tests: string) => ({ 'docs/http-contract.md': contract, 'test/unit/a.test.ts': tests })

await testCheck(t, {
  check: (files) => contractPoints(files, { '`retina`': ['retina'] }, new Set(['retina'])),
  real: () => contractPoints([...readTree('docs'), ...readTree('test')], waiting, new Set()),
  bad: [
    { name: 'a point that no test names', tree: tree(''), at: ['docs/http-contract.md:1'] },
    {
      name: 'an unknown point',
      tree: tree(`${named}// Contract: Gone\nt.test('x', f)`),
      at: ['test/unit/a.test.ts:3'],
    },
    {
      name: 'a name without a test below',
      tree: tree('// Contract: Rate headers\nconst a = 1\n'),
      at: ['test/unit/a.test.ts:1'],
    },
    {
      name: 'a computed title',
      tree: tree('// Contract: Rate headers\nt.test(`a ${b}`, f)\n'),
      at: ['test/unit/a.test.ts:1'],
    },
    {
      name: 'a name inside another test',
      tree: tree(`${named}  // Contract: Rate headers\n  t.test('deep', f)\n`),
      at: ['test/unit/a.test.ts:3'],
    },
    {
      name: 'a waiting point that is named',
      tree: tree(`${named}// Contract: \`retina\`\nt.test('two', f)`),
      at: ['docs/http-contract.md:1'],
    },
  ],
  good: [
    { name: 'a point that is named', tree: tree(named) },
    { name: 'two names above one test', tree: tree(`// Contract: Rate headers\n${named}`) },
    { name: 'a title on its own line', tree: tree(named.replace('(', '(\n  ')) },
  ],
})

t.test('contract points: a waiting point whose parameter is available is found', (t) => {
  const files = Object.entries(tree(named)).map(([path, text]) => ({ path, text }))
  t.equal(contractPoints(files, { '`retina`': ['retina'] }, new Set()).length, 1)
  t.end()
})

t.test(
  'contract points: a recorded mutation finds its code exactly once, and a test that names its point or file',
  (t) => {
    const tests = readTree('test')
    const files = new Map([...readTree('services'), ...tests].map((file) => [file.path, file]))
    const guards = new Set([...namedTests(tests).map(({ point }) => point), ...tests.map(({ path }) => path)])
    for (const mutation of mutations) {
      const path = mutatedFile(mutation)
      t.doesNotThrow(() => findEdit(files.get(path) ?? { path, text: '' }, mutation))
      t.ok(guards.has(guardOf(mutation)), `there is a test for ${guardOf(mutation)}`)
    }
    t.end()
  },
)

t.test('contract points: a guard that chaos takes away finds its code exactly once', (t) => {
  const files = new Map(readTree('services').map((file) => [file.path, file]))
  for (const guard of chaosGuards) {
    const path = mutatedFile(guard)
    t.doesNotThrow(() => findEdit(files.get(path) ?? { path, text: '' }, guard), guard.name)
  }
  t.end()
})
