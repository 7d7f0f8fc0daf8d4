import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t from 'tap'
import { browsersOf } from '#test/helpers/bare-browser.ts'
import { captureWith, startTestHost, startWayOut } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type Process, processTree } from '#test/helpers/process-tree.ts'
import { findBrowserUser } from '#worker/browser-user.ts'
import { type Command, type Isolation, isolated, systemPath } from '#worker/network-isolation.ts'

const folder = await mkdtemp(join(tmpdir(), 'hidden-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
await chmod(folder, 0o755)
await writeFile(join(folder, 'secrets.json'), 'secret')

const browserUser = findBrowserUser('shutterfleet-browser')
const become = (user: number, group: number) => ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups']

/** How commands are isolated here: as root, and as somebody else, which is all there is where the tests are not root. */
const ways = [
  ...(browserUser
    ? [
        {
          isRoot: true,
          caller: [],
          inside: become(browserUser.userId, browserUser.groupId),
          bounding: '00000000000000c2',
        },
        { isRoot: false, caller: become(65_534, 65_534), inside: [], bounding: '0000000000000000' },
      ]
    : [{ isRoot: false, caller: [], inside: [], bounding: '0000000000000000' }]),
]

const commandOf = (
  { isRoot, caller, inside }: (typeof ways)[number],
  network: Isolation['network'],
  command: Command,
) => {
  const [first = '', ...more] = [...inside, ...command]
  const [file = '', ...args] = [...caller, ...isolated([first, ...more], { network, isRoot, hiddenFolder: folder })]
  return { file, args, env: { PATH: systemPath } }
}

/** What somebody sees who takes all rights that a namespace of his own can give, to look behind what was mounted. */
const probe = `
grep -E '^(NoNewPrivs|CapEff|CapBnd):' /proc/self/status
echo "networks: $(sed -n 's/^ *\\(.*\\):.*/\\1/p' /proc/net/dev | tr '\\n' ' ')"
unshare --user --map-root-user --mount sh -c '
  umount "$1" /proc
  umount --lazy "$1" /proc
  echo "files: $(ls "$1")"
  echo "processes: $(cat /proc/[0-9]*/cmdline | tr "\\0" " ")"
' sh "$1" 2>&1`

const look = (way: (typeof ways)[number], network: Isolation['network']) => {
  const { file, args, env } = commandOf(way, network, ['sh', '-c', probe, 'sh', folder])
  return spawnSync(file, args, { env, encoding: 'utf8' }).stdout
}
const thisTest = basename(import.meta.filename)

for (const way of ways) {
  const who = way.isRoot ? 'root' : 'an ordinary user'
  t.test(`what ${who} isolates sees neither files, processes nor networks, and gets no rights`, async (t) => {
    const seen = look(way, 'namespace')
    t.match(seen, /^files: $/m)
    t.match(seen, /^processes: sh -c /m)
    t.notMatch(seen, thisTest)
    t.match(seen, /^networks: lo $/m)
    t.match(seen, /^NoNewPrivs:\t1$/m)
    t.match(seen, /^CapEff:\t0000000000000000$/m)
    t.match(seen, new RegExp(`^CapBnd:\t${way.bounding}$`, 'm'))
  })

  t.test(`without isolation the same look of ${who} finds what there is`, async (t) => {
    const seen = look(way, 'flags-only')
    t.match(seen, /^files: secrets\.json$/m)
    t.match(seen, thisTest)
    t.match(seen, /^NoNewPrivs:\t0$/m)
  })

  t.test(`nothing outlives the caller of what ${who} isolates, not even what is stopped`, async (t) => {
    const { file, args, env } = commandOf(way, 'namespace', ['sh', '-c', 'setsid sleep 600 & exec sleep 601'])
    const caller = spawn('sh', ['-c', '"$@"; exit', 'sh', file, ...args], { env, stdio: 'ignore' })
    const sleepers = () => processTree(caller.pid ?? 0).filter(({ command }) => command.startsWith('sleep'))
    await eventually(() => sleepers().length === 2, { what: 'both sleep' })
    const started = processTree(caller.pid ?? 0)
    for (const { pid } of sleepers()) process.kill(pid, 'SIGSTOP')
    caller.kill('SIGKILL')
    await allGone(started)
    t.pass()
  })
}

const allGone = (processes: readonly Process[]) => {
  const remains = ({ pid, command }: Process) => processTree(pid)[0]?.command === command
  return eventually(() => !processes.some(remains), { what: 'everything has ended' })
}

const statusOf = ({ pid }: Process) => readFileSync(`/proc/${pid}/status`, 'utf8')
const namespacesOf = ({ pid }: Process) => ['user', 'pid', 'net'].map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`))

t.test("Chromium's own sandbox stands inside of ours", async (t) => {
  await using wayOut = await startWayOut('127.0.0.1:1')
  await using _host = await startTestHost(wayOut)
  const isConfined = (each: Process) =>
    each.command.includes('--type=renderer') && /^Seccomp:\t2$/m.test(statusOf(each))
  await eventually(() => processTree(process.pid).some(isConfined), { what: 'a renderer with a filter of its calls' })
  const all = processTree(process.pid)
  const [browser] = browsersOf(process.pid)
  const renderer = all.find(isConfined)
  if (!browser || !renderer) return t.fail('no browser')
  t.match(statusOf(browser), /^NoNewPrivs:\t1$/m)
  t.match(statusOf(browser), /^CapEff:\t0+$/m)
  const inside = namespacesOf(renderer)
  for (const outer of [browser, ...all.slice(0, 1)]) {
    t.strictSame(
      namespacesOf(outer).filter((space) => inside.includes(space)),
      [],
    )
  }
})

for (const [what, find] of [
  ['the outermost process', (all: Process[]) => all.find(({ command }) => command.startsWith('unshare'))],
  ['the host', (all: Process[]) => all.find(({ command }) => command.startsWith(process.execPath))],
] as const) {
  t.test(`nothing is left of a host when ${what} is killed`, async (t) => {
    await using wayOut = await startWayOut('127.0.0.1:1')
    await using host = await startTestHost(wayOut)
    t.match(await captureWith(host, { html: 'x' }), { outcome: 'completed' })
    const started = processTree(process.pid).slice(1)
    process.kill(find(started)?.pid ?? 0, 'SIGKILL')
    await allGone(started)
    await eventually(() => host.gone.aborted)
  })
}
