import { execFile } from 'node:child_process'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { dependencyChecks } from '#local/doctor/dependency-checks.ts'
import { commandLine } from '#test/helpers/command-line.ts'
import { startNats } from '#test/helpers/nats.ts'
import { startSystem } from '#test/helpers/system.ts'

type Failed = { readonly code: number; readonly stdout: string; readonly stderr: string }
type DoctorReport = {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean }[]
}

const run = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
  const work = promisify(execFile)(commandLine, ['doctor', ...args], { env: { PATH: process.env['PATH'], ...more } })
  return work.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Failed,
  )
}
const names = [
  'node',
  'chromium',
  'full chromium',
  'sandbox',
  'fonts',
  'block lists',
  'postgresql',
  'nats',
  'object store',
  'egress',
]

t.test('doctor: finds no fault on this machine before anything runs', async (t) => {
  const { code, stdout } = await run(['--json', '--data', join(t.testdir(), 'none')])
  t.equal(code, 0, stdout)
  const { ok, checks } = JSON.parse(stdout) as DoctorReport
  t.ok(ok)
  t.strictSame(
    checks.map(({ name }) => name),
    names,
  )
})

t.test('doctor: checks a running system, and reports failed checks with advice', async (t) => {
  const system = await startSystem(['--workers-max', '1'])
  t.teardown(() => system.stop())
  const headers = { authorization: `Bearer sk_live_${'0'.repeat(40)}`, 'x-forwarded-for': '198.51.100.7' }
  t.equal((await fetch(`${system.baseUrl}/v1/account`, { headers })).status, 401)
  const { code, stdout } = await run(['--data', system.dataDir])
  t.equal(code, 0)
  t.match(stdout, /postgresql +PostgreSQL \d+[.\d]*, accepts writes/)
  t.match(stdout, /nats +nats-server \d.*, accepts writes/)
  t.match(stdout, /clients +warning: X-Forwarded-For from 127\.0\.0\.1 .*SHUTTERFLEET_TRUSTED_PROXIES/)
  t.match(stdout, /^ok +meters +the meters of \d+ accounts match/m)
  t.match(stdout, /^ok +pauses +no pool is paused$/m)
  t.match(stdout, /^ok +moves +no account is being moved$/m)
  const objects = join(system.dataDir, 'objects')
  const { pid } = (await system.readLocal()).services.find(({ name }) => name === 'nats')!
  // `up` too, which would replace a frozen NATS.
  const frozen = [system.pid, pid]
  for (const each of frozen) process.kill(each, 'SIGSTOP')
  await rename(objects, `${objects}-away`)
  await writeFile(objects, 'a file instead of the folder')
  const env = { SHUTTERFLEET_CHROMIUM: '/bin/false', SHUTTERFLEET_KUBECONFIG: '/nowhere' }
  const broken = await run(['--cluster', '--data', system.dataDir], env)
  for (const each of frozen) process.kill(each, 'SIGCONT')
  await rm(objects)
  await rename(`${objects}-away`, objects)
  t.equal(broken.code, 1)
  t.match(broken.stdout, /^- +sandbox +not checked, since chromium failed$/m)
  for (const name of ['chromium', 'nats', 'object store', 'cluster']) {
    t.match(broken.stdout, new RegExp(`^FAIL +${name} .*: .{20,}$`, 'm'))
  }
  t.match(broken.stdout, /^ok +egress/m)
  t.match(broken.stderr, /checks failed: chromium, nats, object store, cluster\n/)
})

t.test('doctor: names the setting of a NATS server that accepts no large captures', async (t) => {
  const nats = await startNats(t, { config: 'max_payload: 1048576' })
  const facts = { databaseUrl: undefined, postgresBin: undefined, natsServer: undefined, objectStore: undefined }
  const check = dependencyChecks({ ...facts, natsUrl: nats.url }).find(({ name }) => name === 'nats')
  await t.rejects(check!.run(), { message: /max_payload is 1048576, .* need 8388608/ })
})

t.test('doctor: reads the greeting of a NATS server at an IPv6 address', async (t) => {
  const nats = await startNats(t, { host: '[::1]' })
  const facts = { databaseUrl: undefined, postgresBin: undefined, natsServer: undefined, objectStore: undefined }
  const check = dependencyChecks({ ...facts, natsUrl: nats.url }).find(({ name }) => name === 'nats')
  t.match(await check!.run(), /accepts writes/)
})
