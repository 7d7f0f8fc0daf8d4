import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withProcessLimits, checkIsolation, isolated, systemPath } from '#worker/isolation/isolated.ts'

const look = 'cat /proc/self/oom_score_adj; grep -E "^Max (core file size|processes) " /proc/self/limits'
const seenBy = (tasks: number | undefined) => {
  const [file, ...args] = withProcessLimits(['sh', '-c', look], tasks)
  const { stdout } = spawnSync(file, args, { encoding: 'utf8' })
  return stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
}
/** Keeps a score that is higher already. */
const oomScore = Math.max(300, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')))

t.test('process limits: disables core dumps, limits processes, and raises the OOM score', async (t) => {
  const [score, core, tasks] = seenBy(1000)
  t.strictSame(score, [String(oomScore)])
  t.match(core, ['Max core file size', '0', '0'])
  t.match(tasks, ['Max processes', '1000', '1000'])
})

t.test("process limits: keeps the caller's process limit by default", async (t) => {
  const [, , tasks] = seenBy(undefined)
  const own = /^Max processes.*$/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[0].trim().split(/ {2,}/)
  t.strictSame(tasks, own)
})

const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent']
const chromium = '/usr/lib/chromium/chromium-headless-shell'
const by = { network: 'namespace', isRoot: process.getuid?.() === 0, browsers: [chromium] } as const

t.test(
  'isolated: root creates the namespaces without a user namespace, and keeps the capabilities to change the user',
  async (t) => {
    const command = isolated(['node', 'x'], { ...by, isRoot: true })
    t.strictSame(command.slice(1, 6), namespaces)
    t.notOk(command.includes('--unshare-user'))
    t.ok(command.includes('--bounding-set=-all,+setuid,+setgid,+dac_override'))
    t.strictSame(command.slice(-3), ['2048', 'node', 'x'])
  },
)

t.test('isolated: any other user creates them in a user namespace, and keeps no capabilities', async (t) => {
  const command = isolated(['node', 'x'], { ...by, isRoot: false })
  for (const flag of ['--unshare-user', ...namespaces]) t.ok(command.includes(flag), flag)
  t.notOk(command.includes('--cap-add'))
  t.notOk(command.includes('setpriv'))
  t.strictSame(command.slice(-3), ['2048', 'node', 'x'])
})

t.test('isolated: flags-only sets no process limit, which would count other processes of the user', async (t) => {
  const command = isolated(['node'], { ...by, network: 'flags-only' })
  t.equal(command[0], 'sh')
  t.strictSame(command.slice(-2), ['', 'node'])
})

t.test('checkIsolation: names the setting and the reason if the file tree cannot be created', async (t) => {
  checkIsolation(by)
  const missing = join(t.testdir(), 'missing')
  t.throws(() => checkIsolation(by, [{ from: missing, to: '/run/missing' }]), {
    code: 'CONFIGURATION',
    message: /WORKER_NETWORK_ISOLATION.*missing.*: allow user namespaces/,
  })
})

t.test('checkIsolation: names AppArmor and its setting if mounts are denied, as it does', async (t) => {
  const [folder, source] = [t.testdir(), join(import.meta.dirname, 'deny-mount.c')]
  const library = join(folder, 'deny-mount.so')
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source], { encoding: 'utf8' })
  t.equal(compiled.status, 0, compiled.stderr)
  // The sandbox starts with an environment of its own.
  const wrapper = `#!/bin/sh\nPATH=${systemPath} LD_PRELOAD=${library} exec bwrap "$@"\n`
  writeFileSync(join(folder, 'bwrap'), wrapper, { mode: 0o755 })
  t.throws(() => checkIsolation(by, [], `${folder}:${systemPath}`), {
    code: 'CONFIGURATION',
    message: /Failed to make .* Permission denied\): AppArmor denies mounts.*workers\.appArmorProfile/,
  })
})

t.test('checkIsolation: names the package if bwrap is missing', async (t) => {
  t.throws(() => checkIsolation(by, [], t.testdir()), { code: 'CONFIGURATION', message: /package bubblewrap/ })
})
