import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { findPrograms, type ProgramSearch } from '#local/find-programs.ts'

/** Writes a program that prints `version`. */
const program = (path: string, version: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\necho '${version}'\n`)
  chmodSync(path, 0o755)
  return path
}

const nothing = { postgresBin: '', natsServer: '', chromium: '', stealthChromium: '' }

/** A machine below `root` without any programs. */
const machine = (root: string, over: Partial<ProgramSearch> = {}): ProgramSearch => ({
  named: nothing,
  needed: { postgres: true, nats: true, certutil: true },
  path: join(root, 'path'),
  postgresVersions: join(root, 'versions'),
  postgresPackage: join(root, 'package'),
  tools: join(root, 'tools'),
  chromiumPaths: [join(root, 'chromium')],
  stealthChromiumPath: join(root, 'full-chromium'),
  ...over,
})

const others = (root: string) => {
  program(join(root, 'path', 'nats-server'), 'nats-server: v2.12.0')
  program(join(root, 'chromium'), 'Chromium 156')
  program(join(root, 'path', 'certutil'), '')
}

t.test('find programs: names everything that is missing, and the setting for its path', async (t) => {
  const { message } = await findPrograms(machine(t.testdir())).then(
    () => new Error('found everything'),
    (thrown: Error) => thrown,
  )
  for (const words of [
    'PostgreSQL server 15',
    'POSTGRES_BIN',
    'nats-server 2.12',
    'NATS_SERVER',
    'certutil',
    'Chromium',
    'CHROMIUM',
    'make setup',
  ]) {
    t.match(message, words)
  }
})

t.test('find programs: uses the newest installed PostgreSQL, and ignores one that is too old', async (t) => {
  const root = t.testdir()
  others(root)
  program(join(root, 'versions', '9', 'bin', 'postgres'), 'postgres (PostgreSQL) 9.6.24')
  await t.rejects(findPrograms(machine(root)), { message: /PostgreSQL server 15/ })
  program(join(root, 'versions', '15', 'bin', 'postgres'), 'postgres (PostgreSQL) 15.13 (Debian)')
  program(join(root, 'versions', '17', 'bin', 'postgres'), 'postgres (PostgreSQL) 17.2')
  t.equal((await findPrograms(machine(root))).postgresBin, join(root, 'versions', '17', 'bin'))
})

t.test('find programs: falls back to the package, and links its libraries as its install script would', async (t) => {
  const root = t.testdir()
  others(root)
  const native = join(root, 'package', 'native')
  program(join(native, 'bin', 'postgres'), 'postgres (PostgreSQL) 18.4')
  mkdirSync(join(native, 'lib'))
  writeFileSync(join(native, 'lib', 'libpq.so.5.18'), 'library')
  writeFileSync(
    join(native, 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]),
  )
  for (const _again of [1, 2]) {
    t.equal((await findPrograms(machine(root))).postgresBin, join(native, 'bin'))
    t.equal(readFileSync(join(native, 'lib', 'libpq.so.5'), 'utf8'), 'library')
  }
})

t.test('find programs: uses nats-server from PATH if recent enough, else from the tools folder', async (t) => {
  const root = t.testdir()
  others(root)
  program(join(root, 'versions', '15', 'bin', 'postgres'), 'postgres (PostgreSQL) 15.13')
  program(join(root, 'path', 'nats-server'), 'nats-server: v2.10.27')
  await t.rejects(findPrograms(machine(root)), { message: /nats-server 2\.12/ })
  const own = program(join(root, 'tools', 'nats-server-2.15.1', 'nats-server'), 'nats-server: v2.15.1')
  t.equal((await findPrograms(machine(root))).natsServer, own)
})

t.test('find programs: a path in the settings is never replaced by a found one', async (t) => {
  const root = t.testdir()
  others(root)
  program(join(root, 'versions', '15', 'bin', 'postgres'), 'postgres (PostgreSQL) 15.13')
  for (const [name, variable] of [
    ['postgresBin', 'POSTGRES_BIN'],
    ['natsServer', 'NATS_SERVER'],
    ['chromium', 'CHROMIUM'],
    ['stealthChromium', 'STEALTH_CHROMIUM'],
  ] as const) {
    const named = { ...nothing, [name]: join(root, 'nowhere') }
    await t.rejects(findPrograms(machine(root, { named })), {
      message: new RegExp(`SHUTTERFLEET_${variable} = .*nowhere`),
    })
  }
})

t.test('find programs: does not search for external services', async (t) => {
  const root = t.testdir()
  program(join(root, 'chromium'), 'Chromium 156')
  program(join(root, 'path', 'certutil'), '')
  const elsewhere = machine(root, { needed: { postgres: false, nats: false, certutil: false } })
  const chromium = join(root, 'chromium')
  const found = await findPrograms(elsewhere)
  t.strictSame(found, { postgresBin: undefined, natsServer: undefined, chromium, stealthChromium: undefined })
})

t.test('find programs: full Chromium is optional, and used if present', async (t) => {
  const root = t.testdir()
  others(root)
  const none = { postgres: false, nats: false, certutil: false }
  t.equal((await findPrograms(machine(root, { needed: none }))).stealthChromium, undefined)
  const path = program(join(root, 'full-chromium'), 'Chromium 156')
  t.equal((await findPrograms(machine(root, { needed: none }))).stealthChromium, path)
})
