import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { findBrowsers, chromiumPath } from '#test/helpers/bare-browser.ts'
import { browserUsers, captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { isolated, systemPath, withProcessLimits } from '#worker/isolation/isolated.ts'

/** A page that fills 1 GB of memory at once. */
const filling = {
  html: '<script>window.kept = Array.from({ length: 10 }, () => new Uint8Array(1e8).fill(1))</script>x',
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

t.test('browser bounds: a page that exceeds the memory limit fails with RENDER_ERROR, and its host ends', async (t) => {
  await using egress = await startTestEgress('127.0.0.1:1')
  await using host = await startTestHost(egress, {}, { memoryMax: 600_000_000 })
  t.match(await captureWith(host, { html: 'x' }), { outcome: 'completed' })
  t.match(await captureWith(host, filling), { outcome: 'failed', code: 'RENDER_ERROR', message: /600000000 bytes/ })
  await eventually(() => host.gone.aborted)
})

t.test('browser bounds: the same page is captured under a larger memory limit', async (t) => {
  await using egress = await startTestEgress('127.0.0.1:1')
  await using host = await startTestHost(egress, {}, { memoryMax: 4_000_000_000 })
  t.match(await captureWith(host, filling), { outcome: 'completed' })
})

t.test(
  'browser bounds: host, browser and renderers are killed before services when memory runs out, and leave no core',
  async (t) => {
    await using egress = await startTestEgress('127.0.0.1:1')
    await using host = await startTestHost(egress)
    t.match(await captureWith(host, { html: 'x' }), { outcome: 'completed' })
    const [browser] = findBrowsers(process.pid)
    const all = processTree(process.pid).filter(({ command }) => command.startsWith(process.execPath))
    const hosts = all.filter(({ command }) => command.includes('browser-host'))
    t.equal(hosts.length, 1)
    let checked = 0
    for (const { pid, command } of [...hosts, ...processTree(browser?.pid ?? 0)]) {
      const [adjustment, limits] = ['oom_score_adj', 'limits'].map((name) => readIfThere(`/proc/${pid}/${name}`))
      // The renderer of the capture may end meanwhile.
      if (adjustment === undefined || limits === undefined) continue
      // Chromium gives its GPU process a lower adjustment than renderers.
      t.ok(Number(adjustment) > 0, command)
      t.match(limits, /^Max core file size +0 +0 /m, command)
      checked += 1
    }
    t.ok(checked >= 4, `${checked} processes (host, browser, its GPU and its network process)`)
  },
)

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
const slotUser = browserUsers?.all[0]
const inside = slotUser
  ? ['setpriv', `--reuid=${slotUser.userId}`, `--regid=${slotUser.groupId}`, '--clear-groups']
  : []
const ways = [
  ...(slotUser ? [{ who: 'root', isRoot: true, caller: [], inside }] : []),
  { who: 'an ordinary user', isRoot: false, caller: slotUser ? nobody : [], inside: [] },
]

for (const { who, isRoot, caller, ...way } of ways) {
  t.test(`browser bounds: a command isolated by ${who} has a process limit of its own`, async (t) => {
    const forks = 'count=0; while [ $count -lt 60 ]; do sleep 600 & count=$((count + 1)); echo "forked $count"; done'
    const start = (tasksMax: number) => {
      const [first = '', ...rest] = [...way.inside, ...withProcessLimits(['sh', '-c', forks], tasksMax)]
      const [file, ...args] = isolated([first, ...rest], { network: 'namespace', isRoot, browsers: [chromiumPath] })
      const { stdout } = spawnSync('env', [...caller, file, ...args], { encoding: 'utf8', env: { PATH: systemPath } })
      return stdout.match(/^forked \d+$/gm)?.length ?? 0
    }
    t.ok(start(30) < 30)
    t.equal(start(1000), 60)
  })
}
