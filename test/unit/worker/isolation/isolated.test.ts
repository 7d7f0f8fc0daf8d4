import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { limited, checkIsolation, isolated } from '#worker/isolation/isolated.ts'

const look = 'cat /proc/self/oom_score_adj; grep -E "^Max (core file size|processes) " /proc/self/limits'
const seenBy = (tasks: number | undefined) => {
  const [file, ...args] = limited(['sh', '-c', look], tasks)
  const { stdout } = spawnSync(file, args, { encoding: 'utf8' })
  return stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
}
/** A process that is to end even earlier stays as it is. */
const oomScore = Math.max(300, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')))

t.test('limited: no core dump, no more processes than allowed, and an early end when memory ends', async (t) => {
  const [score, core, tasks] = seenBy(1000)
  t.strictSame(score, [String(oomScore)])
  t.match(core, ['Max core file size', '0', '0'])
  t.match(tasks, ['Max processes', '1000', '1000'])
})

t.test('limited: without a bound of processes that of the caller stays', async (t) => {
  const [, , tasks] = seenBy(undefined)
  const own = /^Max processes.*$/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[0].trim().split(/ {2,}/)
  t.strictSame(tasks, own)
})

const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent']
const chromium = '/usr/lib/chromium/chromium-headless-shell'
const by = { network: 'namespace', isRoot: process.getuid?.() === 0, browsers: [chromium] } as const

t.test(
  'isolated: root makes the namespaces without a user namespace, and keeps what it takes to become the user',
  async (t) => {
    const command = isolated(['node', 'x'], { ...by, isRoot: true })
    t.strictSame(command.slice(1, 6), namespaces)
    t.notOk(command.includes('--unshare-user'))
    t.ok(command.includes('--bounding-set=-all,+setuid,+setgid,+dac_override'))
    t.strictSame(command.slice(-3), ['2048', 'node', 'x'])
  },
)

t.test('isolated: everybody else makes them in a user namespace, and keeps nothing', async (t) => {
  const command = isolated(['node', 'x'], { ...by, isRoot: false })
  for (const flag of ['--unshare-user', ...namespaces]) t.ok(command.includes(flag), flag)
  t.notOk(command.includes('--cap-add'))
  t.notOk(command.includes('setpriv'))
  t.strictSame(command.slice(-3), ['2048', 'node', 'x'])
})

t.test('isolated: by flags alone there is no bound of processes, which would count those of others', async (t) => {
  const command = isolated(['node'], { ...by, network: 'flags-only' })
  t.equal(command[0], 'sh')
  t.strictSame(command.slice(-2), ['', 'node'])
})

t.test('checkIsolation: names the setting and the reason where the file tree cannot be made', async (t) => {
  checkIsolation(by)
  const missing = join(t.testdir(), 'missing')
  t.throws(() => checkIsolation(by, [{ from: missing, to: '/run/missing' }]), {
    code: 'CONFIGURATION',
    message: /WORKER_NETWORK_ISOLATION.*missing/,
  })
})

t.test('checkIsolation: names the package where bwrap is missing', async (t) => {
  t.throws(() => checkIsolation(by, [], t.testdir()), { code: 'CONFIGURATION', message: /package bubblewrap/ })
})
