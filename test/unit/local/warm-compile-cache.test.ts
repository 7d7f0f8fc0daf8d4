import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { warmCompileCache } from '#local/warm-compile-cache.ts'

const services = ['egress', 'gateway', 'ledger', 'webhooks', 'controller', 'worker', 'local']

/** A project whose services would write a file if they ran. */
const project = (at: Pick<typeof t, 'testdir'>) => {
  const main = `import { writeFileSync } from 'node:fs'\nwriteFileSync(process.env['MARK'] as string, '')\n`
  const mains: Record<string, readonly string[]> = { local: ['main-prepare.ts'], worker: ['main.ts', 'main-job.ts'] }
  const folders = services.map((name) => [
    name,
    Object.fromEntries((mains[name] ?? ['main.ts']).map((file) => [file, main])),
  ])
  const root = at.testdir({ services: Object.fromEntries(folders), 'package.json': '{"type":"module"}' })
  const cache = join(root, 'cache')
  return { root, cache, mark: join(root, 'mark'), env: { NODE_COMPILE_CACHE: cache, MARK: join(root, 'mark') } }
}

t.test('warm compile cache: caches all modules and runs none of them', async (t) => {
  const { root, cache, mark, env } = project(t)
  await warmCompileCache({ root, env })
  const stored = readdirSync(cache, { recursive: true })
  t.ok(stored.length > services.length, `${stored.length} entries`)
  t.equal(existsSync(mark), false)
})

t.test('warm compile cache: warms again only after a module has changed', async (t) => {
  const { root, cache, env } = project(t)
  const stamp = () => statSync(join(cache, 'warmed'), { bigint: true }).mtimeNs
  await warmCompileCache({ root, env })
  const first = stamp()
  await warmCompileCache({ root, env })
  t.equal(stamp(), first)
  writeFileSync(join(root, 'services', 'egress', 'new.ts'), 'export const more = 1\n')
  await warmCompileCache({ root, env })
  t.not(stamp(), first)
})

t.test('warm compile cache: does nothing without a cache folder', async (t) => {
  await warmCompileCache({ root: t.testdirName, env: {} })
})
