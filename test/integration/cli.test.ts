import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { defaultPlans } from '#local/default-plans.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { readDocument } from '#test/helpers/documented-json.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const postgres = await startPostgres(t)
const { url } = await postgres.createDatabase()
const env = {
  PATH: process.env['PATH'],
  SHUTTERFLEET_DATABASE_URL: url,
  SHUTTERFLEET_KEY_PEPPER: 'pepper',
}

type Ended = { code: number; out: string; errors: string }

const run = async (args: readonly string[], more: Record<string, string> = {}): Promise<Ended> => {
  const options = { env: { ...env, ...more }, cwd: t.testdirName }
  return promisify(execFile)(commandLine, [...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, errors: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      errors: stderr,
    }),
  )
}

/** Runs a command that must succeed and returns its JSON output. */
const json = async <T>(args: readonly string[]): Promise<T> => {
  const { code, out, errors } = await run([...args, '--json'])
  if (code !== 0) throw new Error(errors)
  return await readDocument<T>(args, out)
}

t.testdir()

// Contract: Plans
t.test('cli: migrate brings a database up to date and puts the plans of the contract in force', async (t) => {
  t.match(await json(['migrate']), { applied: [] })
  t.match(await run(['account', 'create', '--name', 'N', '--email', 'e@x', '--plan', 'nope']), {
    code: 1,
    out: '',
    errors: /'nope' is not a plan in force \(free, .*unlimited\)/,
  })
})

t.test('cli: creates, lists and moves accounts', async (t) => {
  const created = await json<{ id: string }>(['account', 'create', '--name', 'N', '--email', 'e@x', '--plan', 'free'])
  t.strictSame(created, { id: created.id, name: 'N', email: 'e@x', plan: 'free' })
  t.strictSame(await json(['account', 'set-plan', created.id, 'pro']), { id: created.id, plan: 'pro' })
  t.match(await json(['account', 'list']), [{ id: created.id, plan: 'pro', created_at: String }])
  t.match(await run(['account', 'set-plan', 'x', 'pro']), { code: 1, errors: /no account x/ })
})

t.test('cli: shows a key only when it is created, lists it without its secret, and revokes it', async (t) => {
  const [account] = await json<{ id: string }[]>(['account', 'list'])
  const id = account?.id ?? ''
  const flags = ['--account', id, '--name', 'web', '--domain', '*.x.com', '--domain', 'y.org', '--expires', '90d']
  const scopes = ['--scope', 'read', '--scope', 'capture']
  const created = await json<{ id: string; prefix: string; key: string }>(['key', 'create', ...flags, ...scopes])
  t.strictSame(Object.keys(created), ['id', 'prefix', 'key'])
  t.match(created.key, /^sk_live_[A-Za-z0-9]{40}$/)
  t.ok(created.key.startsWith(created.prefix))
  const { out } = await run(['key', 'list', '--account', id, '--json'])
  t.notMatch(out, created.key)
  t.match(JSON.parse(out), [
    { id: created.id, name: 'web', domains: ['*.x.com', 'y.org'], expires_at: /^20/, revoked_at: null },
  ])
  t.match(JSON.parse(out), [{ scopes: ['capture', 'read'], last_used_at: null }])
  t.match((await run(['key', 'list', '--account', id])).out, /capture,read +20\S+ +never/)
  const wrong = await run(['key', 'create', '--account', id, '--scope', 'root'])
  t.match(wrong, { code: 1, out: '', errors: /scopes must be one or more of capture, read, manage/ })
  await json(['key', 'revoke', created.id])
  t.match(await json(['key', 'list', '--account', id]), [{ id: created.id, revoked_at: /^20/ }])
})

t.test('cli: a link to the console has an account, one of three roles, and ends in 15 minutes', async (t) => {
  const [account] = await json<{ id: string }[]>(['account', 'list'])
  const command = ['console', '--account', account?.id ?? '']
  const address = { SHUTTERFLEET_PUBLIC_URL: 'https://shots.example.com' }
  const { out } = await run([...command, '--json'], address)
  const link = JSON.parse(out) as { url: string; expires_at: string }
  t.strictSame(Object.keys(link), ['url', 'expires_at'])
  t.match(link.url, /^https:\/\/shots\.example\.com\/console\/sign-in#token=[\w-]{43}$/)
  t.ok(Math.abs(Date.parse(link.expires_at) - Date.now() - 900_000) < 60_000)
  t.match(await run([...command, '--role', 'king'], address), {
    code: 2,
    errors: /--role king: must be one of owner, member/,
  })
  t.match(await run(['console', '--account', 'x'], address), { code: 1, errors: /no account x/ })
})

// Contract: Plans
// Contract: Plan changes
t.test('cli: creates as many keys as the plan allows; a smaller plan leaves existing keys valid', async (t) => {
  await json(['migrate'])
  const created = await json<{ id: string }>([
    'account',
    'create',
    '--name',
    'N',
    '--email',
    'e@x',
    '--plan',
    'starter',
  ])
  const create = ['key', 'create', '--account', created.id, '--name', 'k']
  await json(create)
  await json(create)
  const refused = { code: 1, out: '', errors: /allows 2 API keys; revoke one first/ }
  t.match(await run(create), refused)
  await json(['account', 'set-plan', created.id, 'free'])
  t.match(await run(create), { ...refused, errors: /allows 1 API key;/ })
  const keys = await json<{ revoked_at: string | null }[]>(['key', 'list', '--account', created.id])
  t.same(
    keys.map((key) => key.revoked_at),
    [null, null],
  )
})

// Contract: Plans
t.test('cli: migrate puts the plans of a file in force, plus `unlimited`', async (t) => {
  const own = await postgres.createDatabase()
  const plans = join(t.testdir({ 'plans.json': JSON.stringify([{ ...defaultPlans[0], slug: 'own' }]) }), 'plans.json')
  const more = { SHUTTERFLEET_DATABASE_URL: own.url, SHUTTERFLEET_PLANS: plans }
  t.match(await run(['migrate', '--json'], more), { code: 0 })
  t.match(await own.query('select slug, screenshots_per_month as quota from plan order by position'), [
    { slug: 'own', quota: 200 },
    { slug: 'unlimited', quota: null },
  ])
  t.match(await run(['migrate', '--json'], { SHUTTERFLEET_DATABASE_URL: own.url }), { code: 0 })
  t.equal((await own.query('select from plan')).length, 2, 'without a file it leaves the plans unchanged')
})

t.test('cli: migrate waits for PostgreSQL as long as --wait allows', async (t) => {
  const own = new URL((await postgres.createDatabase()).url)
  const target = { host: own.hostname, port: Number(own.port) }
  let refusals = 0
  const gate = createServer((near) => {
    if (refusals > 0) {
      refusals -= 1
      return void near.destroy()
    }
    const far = connect(target)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to)
  })
  gate.listen(0, '127.0.0.1')
  await once(gate, 'listening')
  t.teardown(() => gate.close())
  own.port = String((gate.address() as AddressInfo).port)
  const more = { SHUTTERFLEET_DATABASE_URL: own.href }
  refusals = 8
  t.match(await run(['migrate', '--wait', '60s'], more), { code: 0 })
  refusals = 8
  t.match(await run(['migrate'], more), { code: 1 })
})

t.test('cli: refuses to create a key with the pepper of another installation', async (t) => {
  const [account] = await json<{ id: string }[]>(['account', 'list'])
  const create = ['key', 'create', '--account', account?.id ?? '']
  const other = t.testdir({ 'secrets.json': JSON.stringify({ keyPepper: 'that of another database' }) })
  const more = { SHUTTERFLEET_KEY_PEPPER: '', SHUTTERFLEET_DATA: other }
  t.match(await run(create, more), { code: 1, out: '', errors: /pepper.*SHUTTERFLEET_KEY_PEPPER.*--data/ })
  t.match(await run(create), { code: 0 }, 'its own pepper still makes keys')
})

t.test('cli: wrong usage exits with 2 and names the flag', async (t) => {
  for (const [args, named] of [
    [['account', 'create', '--name', 'N', '--email', 'e@x'], /--plan/],
    [['key', 'create', '--account', 'x', '--expires', 'soon'], /--expires soon/],
    [['up', '--port', '70000'], /--port 70000/],
    [['capture', 'ftp://x'], /SOURCE ftp:\/\/x/],
  ] as const) {
    t.match(await run(args), { code: 2, out: '', errors: named })
  }
})

t.test('cli: up with unusable settings fails with the reason before anything has started', async (t) => {
  const folder = t.testdir({ file: '', 'plans.json': '[{"slug":"x"}]' })
  const up = (...args: string[]) => run(['up', '--json', ...args])
  t.match(await up('--data', join(folder, 'file')), { code: 1, out: '', errors: /file is not a folder/ })
  t.match(await up('--data', '/proc/x'), { code: 1, out: '', errors: /\/proc\/x cannot be made/ })
  const short = { SHUTTERFLEET_ADMIN_TOKEN: 'short' }
  t.match(await run(['up', '--data', folder], short), { code: 1, out: '', errors: /ADMIN_TOKEN = \(hidden\), .*16/ })
  t.match(await up('--data', folder, '--plans', join(folder, 'plans.json')), { code: 1, errors: /plans\.json[^]*name/ })
  const noCertificates = { code: 1, out: '', errors: /EXTRA_CA = .*file, holds no certificates/ }
  t.match(await up('--data', folder, '--extra-ca', join(folder, 'file')), noCertificates)
  t.match(await run(['up', '--data', folder], { SHUTTERFLEET_CHROMIUM: '/nowhere' }), {
    code: 1,
    errors: /SHUTTERFLEET_CHROMIUM = \/nowhere/,
  })
  t.match(await run(['up', '--data', folder], { SHUTTERFLEET_TYPO: '1' }), { code: 1, errors: /SHUTTERFLEET_TYPO/ })
  const { port } = new URL(url)
  await writeFile(join(folder, 'plans.json'), '[]')
  t.match(await up('--data', folder, '--port', port), {
    code: 1,
    out: '',
    errors: new RegExp(`port ${port} is taken.*--port`),
  })
  const administered = { SHUTTERFLEET_ADMIN_TOKEN: 'a token of the administration', SHUTTERFLEET_ADMIN_PORT: port }
  t.match(await run(['up', '--data', folder, '--port', '0'], administered), {
    code: 1,
    out: '',
    errors: new RegExp(`port ${port} is taken; .*SHUTTERFLEET_ADMIN_PORT`),
  })
})

const needsRoot = process.getuid?.() !== 0 && 'needs root'
const runBy = (launcher: readonly string[], args: readonly string[]) => {
  const [command = '', ...rest] = [...launcher, commandLine, ...args]
  return promisify(execFile)(command, rest, { env, cwd: t.testdirName }).then(
    () => ({ code: 0, errors: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, errors: stderr }),
  )
}

t.test('cli: up on a full disk says so before anything has started', { skip: needsRoot }, async (t) => {
  const folder = t.testdir()
  const mount = `mount -t tmpfs -o size=16m none '${folder}'; exec "$@"`
  t.match(await runBy(['unshare', '--mount', 'sh', '-ec', mount, 'sh'], ['up', '--data', join(folder, 'data')]), {
    code: 1,
    errors: /^shutterfleet: the disk of the data folder .* has \d+ MiB left, and at least 64 MiB are needed: free some/,
  })
})

t.test("cli: another user's data folder is named, with what to do", { skip: needsRoot }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'foreign-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'local.json'), '{}')
  const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  t.match(await runBy(asNobody, ['status', '--data', folder]), {
    code: 1,
    errors: /local\.json cannot be read: it belongs to another user, EACCES: run this as the user that started it/,
  })
  await chmod(folder, 0o755)
  t.match(await runBy(asNobody, ['up', '--data', folder, '--port', '0']), {
    code: 1,
    errors: /the data folder .* belongs to another user \(id 0\): run this as that user; choose another with --data/,
  })
})

t.test('cli: commands for a running system report that none is running', async (t) => {
  const data = ['--data', t.testdir()]
  t.match(await run(['status', ...data]), { code: 1, out: '', errors: /no installation is running in/ })
  t.match(await run(['capture', 'https://example.com', ...data]), { code: 1, errors: /no installation is running in/ })
  t.strictSame(JSON.parse((await run(['down', '--json', ...data])).out), { stopped: false, pid: null })
})

t.test('cli: status reports a crashed `up` as not running', async (t) => {
  const local = { base_url: 'http://127.0.0.1:1', services: [{ name: 'gateway', pid: 999_999_999 }] }
  const folder = t.testdir({ 'local.json': JSON.stringify(local) })
  t.match(await run(['status', '--data', folder]), {
    code: 1,
    out: '',
    errors: /is no longer running and did not shut down cleanly: start it with 'bin\/shutterfleet up'/,
  })
})

t.test('cli: logs prints the last lines of a service, and lists the services that have a log', async (t) => {
  const folder = t.testdir({ logs: { 'gateway.log': 'one\ntwo\nthree\n', 'gateway.log.1': 'zero\n', 'nats.log': '' } })
  const logs = (...args: string[]) => run(['logs', ...args, '--data', folder])
  t.strictSame(await logs('gateway', '--lines', '2'), { code: 0, out: 'two\nthree\n', errors: '' })
  t.strictSame(JSON.parse((await logs('nats', '--json')).out), {
    service: 'nats',
    path: join(folder, 'logs', 'nats.log'),
    lines: [],
  })
  t.match(await logs('../secrets'), { code: 2, out: '', errors: /SERVICE \.\.\/secrets: .*logs are: gateway, nats/ })
  t.match(await logs('gateway', '--lines', '0'), { code: 2, errors: /--lines 0/ })
})

t.test('cli: the launcher moves flags with passwords from the arguments to the environment', async (t) => {
  // Replaces Node by a script that prints its arguments and its environment.
  const root = t.testdir({ bin: {}, '.tools': { 'node-24.21.0': { bin: {} } } })
  const fake = join(root, '.tools/node-24.21.0/bin/node')
  const printed = 'printf "[%s]\\n" "$@"; echo ---; env | grep "^HIDDEN_FLAG" || true'
  await writeFile(fake, `#!/bin/sh\n${printed}\n`, { mode: 0o755 })
  await copyFile(commandLine, join(root, 'bin/shutterfleet'))
  const launched = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(join(root, 'bin/shutterfleet'), args, { env: { PATH: env.PATH } })
    const [words = '', hidden = ''] = stdout.split('---\n')
    const list = words.trim().split('\n').slice(1)
    return { words: list.map((word) => word.slice(1, -1)), hidden: hidden.trim().split('\n').toSorted() }
  }
  const odd = `postgres://u:$HOME'"*\\ secret@h/x`
  t.same(
    await launched('up', '--port', '0', '--postgres', odd, '--s3=https://k:s=e@h/b', '--nats', 'n://u:p@h', '--json'),
    {
      words: ['up', '--port', '0', '--json'],
      hidden: ['HIDDEN_FLAG_NATS=n://u:p@h', `HIDDEN_FLAG_POSTGRES=${odd}`, 'HIDDEN_FLAG_S3=https://k:s=e@h/b'],
    },
  )
  t.same(await launched('up', '--allow-target', 'a b', '', '*', '--postgres'), {
    words: ['up', '--allow-target', 'a b', '', '*', '--postgres'],
    hidden: [''],
  })
  t.same((await launched('capture', '--s3', 'x')).words, ['capture', '--s3', 'x'], 'other commands keep theirs')
  t.same((await launched()).words, [])
})

t.test('cli: flags hidden by the launcher are validated like others', async (t) => {
  const data = ['up', '--data', join(t.testdir(), 'd')]
  t.match(await run([...data, '--postgres', 'mysql://u:hidden-word@h/x']), {
    code: 2,
    errors: /^shutterfleet: --postgres \(hidden\): must be an address that begins with postgres:/,
  })
  t.match(await run([...data, '--nats=']), { code: 2, errors: /--nats must not be empty/ })
  t.match(await run([...data, '--s3']), { code: 2, errors: /--s3.*argument missing/ })
})

t.test('cli: process arguments that other users can read contain no passwords', async (t) => {
  const command = ['up', '--data', join(t.testdir({}), 'd'), '--postgres', 'postgres://u:hidden-word@127.0.0.1:1/x']
  const child = spawn(commandLine, command, { env, stdio: 'ignore' })
  const argumentsOf = () => readFile(`/proc/${child.pid}/cmdline`, 'utf8')
  await eventually(async () => (await argumentsOf()).startsWith('shutterfleet'))
  t.notMatch(await argumentsOf(), 'hidden-word')
  child.kill('SIGKILL')
  await once(child, 'exit')
})
