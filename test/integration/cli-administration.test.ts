import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'
import { readDocument } from '#test/helpers/documented-json.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startPostgres } from '#test/helpers/postgres.ts'

const postgres = await startPostgres(t)
const database = await postgres.createDatabase()
const env = {
  PATH: process.env['PATH'],
  SHUTTERFLEET_DATABASE_URL: database.url,
  SHUTTERFLEET_KEY_PEPPER: 'pepper',
}

const run = (...args: readonly string[]) =>
  promisify(execFile)(commandLine, [...args], { env, cwd: t.testdirName }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, errors: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      errors: stderr,
    }),
  )

/** Runs a command that must succeed and returns its JSON output. */
const json = async <T>(...args: readonly string[]): Promise<T> => {
  const { code, out, errors } = await run(...args, '--json')
  if (code !== 0) throw new Error(errors)
  return await readDocument<T>(args, out)
}

t.testdir()
await json('migrate')
const createAccount = async (name: string) =>
  (await json<{ id: string }>('account', 'create', '--name', name, '--email', 'e@x', '--plan', 'pro')).id
const account = await createAccount('Acme')
const unknown = '00000000-0000-4000-8000-000000000000'

t.test('cli administration: disables and enables an account, and shows its state', async (t) => {
  t.match(await json('account', 'show', account), { id: account, name: 'Acme', plan: 'pro', disabled_at: null })
  t.match(await json('account', 'disable', account), { id: account, disabled_at: /^20/ })
  t.match((await run('account', 'show', account)).out, /state +disabled since 20/)
  t.match((await run('account', 'enable', account)).out, /is enabled/)
  for (const name of ['show', 'disable', 'enable']) {
    t.match(await run('account', name, unknown), { code: 1, out: '', errors: /there is no account/ }, name)
  }
})

t.test('cli administration: shows and replaces the targets of an account, one list or both', async (t) => {
  t.match(await json('account', 'targets', account), { id: account, allow: [], deny: [] })
  const deny = ['--deny', '*.Ads.example', '--deny', '198.51.100.7/24, a.example']
  const denied = ['*.ads.example', '198.51.100.0/24', 'a.example']
  t.strictSame(await json('account', 'targets', account, ...deny), { id: account, allow: [], deny: denied })
  t.match(await json('account', 'targets', account, '--allow', 'b.example'), { allow: ['b.example'], deny: denied })
  t.match((await run('account', 'targets', account)).out, /allow +b\.example\n *deny +\*\.ads\.example 198/)
  t.match(await run('account', 'targets', account, '--deny', 'a..b'), {
    code: 1,
    errors: /deny\.0 must be a host .*'a\.\.b'/,
  })
  t.strictSame(await json('account', 'targets', account, '--deny', ''), { id: account, allow: ['b.example'], deny: [] })
  t.match(await json('account', 'targets', account, '--allow', ''), { allow: [], deny: [] })
  t.match(await run('account', 'targets', unknown), { code: 1, errors: /there is no account/ })
})

t.test('cli administration: erases an account only if that is confirmed', async (t) => {
  const id = await createAccount('Gone')
  t.match(await run('account', 'erase', id), {
    code: 2,
    out: '',
    errors: /--yes is missing: this erases account .*Gone/,
  })
  t.match(await json('account', 'show', id), { erasing_at: null })
  t.match(await json('account', 'erase', id, '--yes'), { id, erasing_at: /^20/, disabled_at: /^20/ })
  t.match((await run('account', 'show', id)).out, /being erased since 20/)
  t.match(await run('account', 'enable', id), { code: 1, errors: /is being erased/ })
  t.match(await run('account', 'erase', unknown, '--yes'), { code: 1, errors: /there is no account/ })
})

t.test('cli administration: adds members, changes their roles and removes them, but for the last owner', async (t) => {
  const of = ['--account', account]
  const owner = await json<{ id: string }>('member', 'add', ...of, '--email', 'Ada@Example.com', '--role', 'owner')
  const { id } = await json<{ id: string }>('member', 'add', ...of, '--email', 'bob@example.com')
  t.match(await json('member', 'list', ...of), [
    { id: owner.id, email: 'ada@example.com', role: 'owner', last_sign_in_at: null },
    { id, email: 'bob@example.com', role: 'member' },
  ])
  t.match((await run('member', 'list', ...of)).out, /owner +ada@example\.com +never/)
  t.match(await run('member', 'remove', owner.id, ...of), { code: 1, errors: /last owner/ })
  t.match(await json('member', 'set-role', id, 'owner', ...of), { id, role: 'owner' })
  t.match(await json('member', 'remove', owner.id, ...of), { id: owner.id, removed: true })
  t.match(await run('member', 'add', ...of, '--email', 'bob@example.com'), { code: 1, errors: /is that of a member/ })
  t.match(await run('member', 'add', ...of, '--email', 'bob'), { code: 2, errors: /--email bob: must be/ })
  t.match(await run('member', 'set-role', id, 'root', ...of), { code: 2, errors: /must be one of owner/ })
  t.match(await run('member', 'remove', unknown, ...of), { code: 1, errors: /there is no member/ })
  t.match(await run('member', 'list', '--account', unknown), { code: 1, errors: /there is no account/ })
  const audit = await json<readonly { action: string; actor: string }[]>('audit', 'list')
  t.ok(audit.some(({ action, actor }) => action === 'member.set_role' && actor === 'command line'))
})

t.test('cli administration: shows one key with its account', async (t) => {
  const other = await createAccount('Other')
  const { id } = await json<{ id: string }>('key', 'create', '--account', other, '--name', 'CI', '--scope', 'capture')
  t.match(await json('key', 'show', id), { id, account_id: other, name: 'CI', scopes: ['capture'], revoked_at: null })
  t.match((await run('key', 'show', id)).out, new RegExp(`account +${other}`))
  t.match(await run('key', 'show', unknown), { code: 1, errors: /there is no key/ })
})

t.test('cli administration: changes the expiry and the domains of a key', async (t) => {
  const { id } = await json<{ id: string }>('key', 'create', '--account', account, '--domain', 'a.org')
  const list = () => json('key', 'list', '--account', account)
  t.match(await json('key', 'set-expiry', id, '30d'), { id, expires_at: /^20/ })
  t.match(await json('key', 'set-domains', id, '--domain', '*.B.org', '--domain', 'c.org'), { id })
  t.match(await list(), [{ id, domains: ['*.b.org', 'c.org'], expires_at: /^20/ }])
  t.match((await run('key', 'set-expiry', id, 'never')).out, /never expires/)
  t.match((await run('key', 'set-domains', id)).out, /may be used from anywhere/)
  t.match(await list(), [{ id, domains: [], expires_at: null }])
  t.match(await run('key', 'set-expiry', id, 'soon'), { code: 2, errors: /TIME soon: must be a duration/ })
  t.match(await run('key', 'set-domains', id, '--domain', 'a b'), { code: 1, errors: /'a b' is neither a host/ })
  t.match(await run('key', 'set-expiry', unknown, '1h'), { code: 1, errors: /there is no key/ })
})

t.test('cli administration: lists the plans in the form of a plans file', async (t) => {
  const plans = await json<{ slug: string }[]>('plan', 'list')
  t.match(plans.at(-1), { slug: 'unlimited', screenshots_per_month: null })
  t.match((await run('plan', 'list')).out, /^PLAN .*\nfree +.*200 a month/)
})

t.test('cli administration: lists, cancels and recounts the captures of an account that have not ended', async (t) => {
  const owner = await createAccount('Busy')
  t.strictSame(await json('queue', 'list'), [])
  await database.query(
    `insert into lane_meter (account_id, pool, lane, admitted, waiting, processing) values ($1, 'standard', 'bulk', 3, 2, 1)`,
    [owner],
  )
  t.strictSame(await json('queue', 'list'), [{ account_id: owner, name: 'Busy', pending: 4, processing: 1 }])
  t.match((await run('queue', 'list')).out, new RegExp(`^ACCOUNT .*\\n${owner} +4 +1 +Busy\\n$`))
  const { corrected } = await json<{ corrected: object[] }>('queue', 'recount', owner)
  t.match(corrected, [{ meter: String, part: 'standard/bulk', actual: 0 }])
  t.strictSame(await json('queue', 'recount', owner), { corrected: [] })
  t.strictSame(await json('queue', 'cancel', owner), { canceled: 0 })
  for (const name of ['cancel', 'recount']) {
    t.match(await run('queue', name, unknown), { code: 1, errors: /there is no account/ }, name)
  }
})

t.test('cli administration: pauses and resumes a pool, and lists the pools', async (t) => {
  t.match(await json('pool', 'list'), [{ pool: 'standard', pause: null }, {}, {}])
  const pausing = json('pool', 'pause', 'stealth', '--reason', 'new browser', '--for', '2h')
  // Stands in for the ledger, which applies pauses.
  await eventually(async () => {
    const applied = `update pool_pause set applied_at = now() returning pool`
    return (await database.query(applied)).length === 1
  })
  const pause = { by: 'command line', reason: 'new browser', since: /^20/, until: /^20/, state: 'draining' }
  t.match(await pausing, { pool: 'stealth', processing: 0, pause })
  t.match(
    (await run('pool', 'list')).out,
    /stealth +0 +0 +drain(?:ing|ed), paused since 20.* by command line: new browser/,
  )
  t.match(await json('pool', 'resume', 'stealth'), { pool: 'stealth', pause: null })
  t.match(await run('pool', 'pause', 'stealth'), { code: 2, errors: /--reason is missing/ })
  t.match(await run('pool', 'pause', 'other', '--reason', 'x'), {
    code: 1,
    errors: /no pool other: pools are standard/,
  })
  t.match(await run('pool', 'pause', 'stealth', '--reason', 'x', '--for', '8d'), { code: 1, errors: /next 7 days/ })
})

t.test('cli administration: switches maintenance on and off', async (t) => {
  t.strictSame(await json('maintenance', 'show'), { on: false, since: null })
  t.match(await json('maintenance', 'on'), { on: true, since: /^20/ })
  t.match((await run('maintenance', 'show')).out, /is on since 20.*: no captures are accepted/)
  t.strictSame(await json('maintenance', 'off'), { on: false, since: null })
})

t.test('cli administration: the audit log has each change, made by the command line', async (t) => {
  const changes = await json<{ id: string; actor: string; action: string }[]>('audit', 'list')
  t.ok(changes.every(({ actor }) => actor === 'command line'))
  const actions = changes.map(({ action }) => action)
  for (const action of [
    ...['account.disable', 'account.enable', 'account.erase', 'key.set_expiry', 'key.set_domains'],
    ...['queue.cancel', 'meters.recount', 'maintenance.on', 'maintenance.off'],
    ...['pool.pause', 'pool.resume'],
  ]) {
    t.ok(actions.includes(action), action)
  }
  const [first, second] = changes
  t.match(await json('audit', 'list', '--limit', '1'), [{ id: first?.id }])
  t.match(await json('audit', 'list', '--limit', '1', '--after', first?.id ?? ''), [{ id: second?.id }])
  t.match((await run('audit', 'list', '--limit', '1')).out, /^AT +ACTOR .*\n20.* command line +maintenance.off/)
  t.match(await run('audit', 'list', '--limit', '1001'), { code: 2, errors: /--limit 1001: must be .* from 1 to 1000/ })
  t.match(await run('audit', 'list', '--after', unknown), { code: 1, errors: /there is no recorded change/ })
})
