import t from 'tap'
import { plantProject, runTool } from './planted-project.ts'

/** Each rule with a service file that breaks it. */
const faults: Readonly<Record<string, string>> = {
  'eslint(max-lines)': `// line\n`.repeat(401),
  'eslint(max-lines-per-function)': `export const f = () => {\n${'  g()\n'.repeat(70)}}\n`,
  'eslint(max-params)': 'export const f = (a: 1, b: 2, c: 3, d: 4, e: 5) => [a, b, c, d, e]',
  'eslint(complexity)': `export const f = (a: string) => ${"a === 'x' || ".repeat(12)} true`,
  'eslint(max-depth)': 'export const f = (a: boolean) => { if (a) { if (a) { if (a) { if (a) { if (a) f(a) } } } } }',
  // By types only; an import of values would be a cycle too.
  'import(no-cycle)': `import type { B } from '#gateway/cycle.ts'\nexport type A = B | 1`,
  'import(no-default-export)': 'export default 1',
  'unicorn(prefer-node-protocol)': `import { join } from 'path'\njoin()`,
  'typescript(consistent-type-imports)': `import { Agent } from 'node:http'\nexport type A = Agent`,
  'typescript(no-floating-promises)': 'const f = async () => 1\nexport const g = () => { f() }',
  'typescript(no-misused-promises)':
    'const f = async () => true\nexport const g = () => { if (f()) return 1; return 2 }',
  'typescript(await-thenable)': 'await 1',
  'typescript(return-await)': 'export const f = async (p: Promise<1>) => { try { return p } catch { return 2 } }',
  'typescript(switch-exhaustiveness-check)':
    "export const f = (a: 'x' | 'y') => { switch (a) { case 'x': return 1 } return 2 }",
  'typescript(only-throw-error)': "export const f = () => { throw 'text' }",
  'typescript(no-explicit-any)': 'export const a: any = 1',
  'typescript(no-non-null-assertion)': 'export const f = (a?: string) => a!.length',
  'eslint(eqeqeq)': 'export const f = (a: string) => a == "x"',
  'eslint(no-param-reassign)': 'export const f = (a: number) => { a = 2; return a }',
  'eslint(no-console)': "console.log('x')",
  'eslint(no-restricted-properties)': 'process.exit(1)',
  'eslint(no-unused-vars)': 'const unused = 1',
  'eslint(no-shadow)': 'const a = 1\nexport const f = (a: number) => a\nf(a)',
  'unicorn(no-array-for-each)': '[1].forEach((a) => f(a))',
  'unicorn(filename-case)': 'export const a = 1',
  // Errors of the compiler: two that depend on its settings.
  'typescript(TS2322)': "export const a: number = 'x'",
  'typescript(TS2375)': 'export const f = (a?: 1) => { const b: { a?: 1 } = { a }; return b }',
  'typescript(TS6133)': 'export const f = (unused: 1) => 1',
}

const pathOf = (rule: string) =>
  rule === 'unicorn(filename-case)'
    ? 'services/gateway/CamelCase.ts'
    : `services/gateway/${rule.replaceAll(/\W/g, '-')}.ts`

const cycle = `import type { A } from '${pathOf('import(no-cycle)').replace('services/', '#')}'\nexport type B = A | 2`

type Report = {
  diagnostics: { code: string; filename: string; message: string; labels: { span: { line: number } }[] }[]
}

const lint = (folder: string) => {
  const { out } = runTool(folder, 'oxlint', ['--format=json'])
  return (JSON.parse(out) as Report).diagnostics
}

t.test('oxlint: each rule reports the fault planted for it', (t) => {
  using project = plantProject({
    ...Object.fromEntries(Object.entries(faults).map(([rule, text]) => [pathOf(rule), text])),
    'services/gateway/cycle.ts': cycle,
  })
  const findings = lint(project.folder)
  for (const rule of Object.keys(faults))
    t.ok(
      findings.some(({ code, filename }) => code === rule && filename === pathOf(rule)),
      rule,
    )
  t.end()
})

t.test('oxlint: console is allowed in the command line, in tools and in tests only', (t) => {
  const text = "console.log('x')\n"
  const places = ['services/cli/say.ts', 'tools/say.ts', 'test/say.ts', 'services/egress/say.ts']
  using project = plantProject(Object.fromEntries(places.map((path) => [path, text])))
  t.strictSame(
    lint(project.folder).map(({ code, filename }) => `${filename} ${code}`),
    ['services/egress/say.ts eslint(no-console)'],
  )
  t.end()
})

t.test('oxlint: a tap test needs no await, another promise does', (t) => {
  using project = plantProject({
    'test/a.test.ts': `import t from 'tap'\nt.test('a', (t) => { t.end() })\n`,
    'test/b.test.ts': `import t from 'tap'\nt.rejects(Promise.reject(new Error('x')))\n`,
  })
  t.strictSame(
    lint(project.folder).map(({ code, filename }) => `${filename} ${code}`),
    ['test/b.test.ts typescript(no-floating-promises)'],
  )
  t.end()
})
