import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { plantProject, runTool } from './planted-project.ts'

const living = {
  'services/gateway/main.ts': "import { used } from './used.ts'\nused()\n",
  'services/gateway/used.ts': 'export const used = () => 1\n',
  'services/worker/browser-host/main.ts': "import { used } from '#gateway/used.ts'\nused()\n",
  'test/unit/gateway/used.test.ts': "import t from 'tap'\nimport { help } from '#test/helpers/help.ts'\nhelp(t)\n",
  'test/helpers/help.ts': 'export const help = () => 1\n',
  'test/bench/run.ts': 'export {}\n',
}

const kinds = [
  'files',
  'exports',
  'types',
  'duplicates',
  'unlisted',
  'unresolved',
  'dependencies',
  'devDependencies',
] as const

type Issue = { file: string } & Record<(typeof kinds)[number], { name: string }[]>

/** The findings of knip in a folder, as `kind file: name`. */
const deadIn = (folder: string): string[] => {
  const { out } = runTool(folder, 'knip', ['--reporter', 'json', '--no-config-hints'])
  const { issues } = JSON.parse(out) as { issues: Issue[] }
  return issues.flatMap((issue) =>
    kinds.flatMap((kind) => issue[kind].map(({ name }) => `${kind} ${issue.file}: ${name}`)),
  )
}

/** The findings of knip in a planted project whose package.json has only the given dependencies. */
const deadInPlanted = (files: Record<string, string>, dependencies: Record<string, string> = {}): string[] => {
  using project = plantProject(files)
  const path = join(project.folder, 'package.json')
  const described = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...described, dependencies, devDependencies: { tap: '*' }, bin: undefined }))
  return deadIn(project.folder).toSorted()
}

t.test('knip: code reached from a main file, a test or the benchmark is alive', (t) => {
  t.strictSame(deadInPlanted(living), [])
  t.end()
})

t.test('knip: an unused file, export, type and dependency are dead', (t) => {
  const dead = deadInPlanted(
    {
      ...living,
      'services/gateway/dead.ts': 'export const dead = 1\n',
      'services/gateway/used.ts': 'export const used = () => 1\nexport const idle = 1\nexport type Idle = 1\n',
    },
    { minio: '8.0.7' },
  )
  t.strictSame(dead, [
    'dependencies package.json: minio',
    'exports services/gateway/used.ts: idle',
    'files services/gateway/dead.ts: services/gateway/dead.ts',
    'types services/gateway/used.ts: Idle',
  ])
  t.end()
})

t.test('knip: an undeclared package is reported', (t) => {
  const dead = deadInPlanted({ ...living, 'services/gateway/used.ts': "import 'minio'\nexport const used = () => 1\n" })
  t.strictSame(dead, ['unlisted services/gateway/used.ts: minio'])
  t.end()
})
