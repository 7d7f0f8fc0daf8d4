import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { bundle, loadPrograms, provideBundle } from '#local/bundle.ts'
import { serviceNames, services } from '#shared/config/services.ts'
import { programPath } from '#shared/process/program-path.ts'
import { testProgramPath } from '#test/helpers/test-program-path.ts'

const folders = new Set([...serviceNames.map((name) => dirname(services[name].program)), 'worker', 'local', 'cli'])

/** A project whose programs write a file if they run, and print the folder of a module that they share. */
const project = (at: Pick<typeof t, 'testdir'>, shared = 'export const folder: string = import.meta.dirname') => {
  const main = `
    import { writeFileSync } from 'node:fs'
    import { folder } from '#shared/folder.ts'
    writeFileSync(process.env['MARK'] as string, '')
    console.log(folder)`
  const mains: Record<string, object> = {
    controller: { 'main.ts': main, 'main-operator.ts': main },
    gateway: { 'main.ts': main, 'main-router.ts': main },
    local: { 'main-prepare.ts': main },
    worker: {
      ...{ 'main.ts': main, 'main-job.ts': main },
      'browser-host': { 'main.ts': main },
      'block-lists': { 'main-describe.ts': main },
    },
  }
  const mainsOf = [...folders].map((name) => [name, mains[name] ?? { 'main.ts': main }])
  const root = at.testdir({
    services: { ...Object.fromEntries(mainsOf), shared: { 'folder.ts': shared } },
    clients: { typescript: { dist: {} } },
    '.tools': {},
    'package-lock.json': '{}',
    'package.json': '{"type":"module","imports":{"#shared/*":"./services/shared/*"}}',
  })
  const mark = join(root, 'mark')
  return { root, mark, bundles: join(root, '.tools', 'bundles'), env: { MARK: mark } }
}

t.test('bundle: modules have the folder of their source, and bundling runs no program', async (t) => {
  const { root, mark, env } = project(t)
  const programs = await provideBundle({ root, env })
  t.equal(programs.extension, '.js')
  t.equal(existsSync(mark), false)
  for (const name of ['gateway/main', 'worker/browser-host/main']) {
    const { stdout } = await promisify(execFile)(process.execPath, [programPath(name, programs)], { env })
    t.equal(stdout.trim(), join(root, 'services', 'shared'), name)
  }
})

t.test('bundle: an image runs it without the sources, from their folder', async (t) => {
  const { root, env } = project(t)
  await bundle(root, root)
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  for (const name of sources) rmSync(join(root, name))
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [programPath('cli/main', { root, extension: '.js' })],
    { env },
  )
  t.equal(stdout.trim(), join(root, 'services', 'shared'))
})

t.test('bundle: every file of the services is valid, also those that are loaded late', (t) => {
  const bundled = resolve(testProgramPath('gateway/main'), '../..')
  const files = readdirSync(bundled, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
  t.ok(files.length > 20, `${files.length} files`)
  const check = (path: string) =>
    execFileSync(process.execPath, ['--check', path], { stdio: ['ignore', 'ignore', 'pipe'] })
  for (const file of files) t.doesNotThrow(() => check(join(bundled, file)), file)
  const invalid = join(t.testdir({ 'a.js': "import { a } from 'a'\nimport { a } from 'b'" }), 'a.js')
  t.throws(() => check(invalid), /already been declared/)
  t.end()
})

t.test('bundle: sources are bundled again only after they have changed', async (t) => {
  const { root, bundles, env } = project(t)
  const first = await provideBundle({ root, env })
  t.same(await provideBundle({ root, env }), first)
  t.equal(readdirSync(bundles).length, 1)
  writeFileSync(join(root, 'services', 'shared', 'folder.ts'), "export const folder = 'another'\n")
  const second = await provideBundle({ root, env })
  t.not(second.root, first.root)
  writeFileSync(join(root, 'clients/typescript/dist/shutterfleet.js'), '')
  t.not((await provideBundle({ root, env })).root, second.root)
})

t.test('bundle: one of older sources is removed, unless a process runs from it', async (t) => {
  const { root, bundles, env } = project(t)
  const [unused, used] = [join(bundles, 'unused'), join(bundles, 'used')]
  for (const folder of [unused, used]) {
    mkdirSync(folder, { recursive: true })
    utimesSync(folder, 0, 0)
  }
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()', join(used, 'services/worker/main.js')], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  await provideBundle({ root, env })
  t.equal(existsSync(unused), false)
  t.equal(existsSync(used), true)
})

t.test('bundle: sources that cannot be bundled are run themselves', async (t) => {
  const { root, bundles, env } = project(t, 'export const folder = (')
  t.same(await provideBundle({ root, env }), { root, extension: '.ts' })
  t.same(existsSync(bundles) ? readdirSync(bundles) : [], [])
})

t.test('bundle: loading programs fills the compile cache and runs none', async (t) => {
  const { root, mark, env } = project(t)
  const cache = join(root, 'cache')
  await loadPrograms({ root, extension: '.ts' }, { ...env, NODE_COMPILE_CACHE: cache })
  t.ok(readdirSync(cache, { recursive: true }).length > serviceNames.length)
  t.equal(existsSync(mark), false)
  await t.rejects(loadPrograms({ root: join(root, 'elsewhere'), extension: '.ts' }, env))
})
