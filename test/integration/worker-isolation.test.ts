import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import t from 'tap'
import { findBrowsers, chromiumPath } from '#test/helpers/bare-browser.ts'
import { browserUsers, captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { type Process, processTree } from '#test/helpers/process-tree.ts'
import { type Isolation, isolated, systemPath, type Command } from '#worker/isolation/isolated.ts'

const become = ({ userId, groupId }: { userId: number; groupId: number }) => [
  ...['setpriv', `--reuid=${userId}`, `--regid=${groupId}`, '--clear-groups'],
]
const nobody = { userId: 65_534, groupId: 65_534 }
const slotUser = browserUsers?.all[0]

/** The isolations to test: by root and by an ordinary user; only the latter if the tests do not run as root. */
const ways = slotUser
  ? [
      { isRoot: true, caller: [], inside: become(slotUser), bounding: '00000000000000c2' },
      { isRoot: false, caller: become(nobody), inside: [], bounding: '0000000000000000' },
    ]
  : [{ isRoot: false, caller: [], inside: [], bounding: '0000000000000000' }]
type Way = (typeof ways)[number]

const secret = `secret-${process.pid}`

/** Creates a folder with a world-accessible socket and file, as other slots or services of the machine may have. */
const plant = async (parent: string) => {
  const folder = await mkdtemp(join(parent, 'shutterfleet-planted-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [socket, file] = [join(folder, 'open.sock'), join(folder, 'local.json')]
  const server = createServer().listen(socket)
  t.teardown(() => server.close())
  await once(server, 'listening')
  await writeFile(file, secret)
  for (const path of [folder, socket, file]) await chmod(path, 0o777)
  return { socket, file }
}
const planted = await Promise.all(['/tmp', '/var/tmp', '/dev/shm', ...(slotUser ? ['/run'] : [])].map(plant))
const trusted = planted[0]!.file

const abstractName = `planted-${process.pid}`
const abstract = createServer((client) => client.destroy()).listen(`\0${abstractName}`)
t.teardown(() => abstract.close())

const connectAbstract = `require('net').connect('\\0${abstractName}').on('connect', () => console.log('abstract: reached'))
  .on('error', ({ code }) => console.log('abstract: ' + code)).on('connect', () => process.exit())`

/** A shell instead of the browser: becomes root in a new user namespace, and unmounts what hides the machine. */
const probe = `
grep -E '^(Uid|NoNewPrivs|CapEff|CapBnd):' /proc/self/status
echo "networks: $(sed -n 's/^ *\\(.*\\):.*/\\1/p' /proc/net/dev | tr '\\n' ' ')"
echo "environments: $(cat /proc/[0-9]*/environ | grep -a -o "secret-[0-9]*" | sort -u)"
unshare --user --map-root-user --mount sh -c '
  checkout=$1 node=$2 connect=$3 places=$4
  shift 4
  umount --lazy /proc /tmp /run/trust "$checkout"/services/worker "$checkout"/node_modules /
  mount -o remount,rw / && echo "root: writable"
  echo "processes: $(cat /proc/[0-9]*/comm | tr "\\n" " ")"
  echo "sockets: $(find $places -maxdepth 3 ! -type d ! -type l -exec test -S {} \\; -print | sort | tr "\\n" " ")"
  echo "files: $(cat "$@")"
  echo "checkout: $(ls -A "$checkout" | sort | tr "\\n" " ")"
  echo "services: $(ls "$checkout"/services | tr "\\n" " ")"
  echo "machine: $(ls -d /home /root /sys /boot /etc/passwd /usr/src "$checkout"/.shutterfleet)"
  "$node" -e "$connect"
' sh "$@" 2>&1`

const commandOf = ({ isRoot, caller, inside }: Way, network: Isolation['network'], command: Command) => {
  const mounts = [{ from: trusted, to: '/run/trust' }]
  const [first = '', ...rest] = [...inside, ...command]
  const whole: Command = [first, ...rest]
  const [file = '', ...args] = [...caller, ...isolated(whole, { network, isRoot, browsers: [chromiumPath] }, mounts)]
  return { file, args, env: { PATH: systemPath } }
}

const checkout = process.cwd()
const runProbe = (way: Way, network: Isolation['network']) => {
  const files = planted.map(({ file }) => file)
  // Search everything inside of the isolation; without isolation only the folders that the search must find.
  const places = network === 'namespace' ? ['/run', '/tmp', '/var', '/dev'] : files.map((file) => dirname(file))
  const parameters = [checkout, process.execPath, connectAbstract, places.join(' ')]
  const probed: Command = ['sh', '-c', probe, 'sh', ...parameters, ...files]
  const { file, args, env } = commandOf(way, network, probed)
  const others = way.isRoot ? way.inside : way.caller
  const neighbour = spawn('env', [...others, 'sleep', '600'], {
    env: { PATH: systemPath, KEY: secret },
    stdio: 'ignore',
  })
  try {
    return spawnSync(file, args, { env, cwd: '/', encoding: 'utf8' }).stdout
  } finally {
    neighbour.kill('SIGKILL')
  }
}

for (const way of ways) {
  const who = way.isRoot ? 'root' : 'an ordinary user'
  t.test(
    `worker isolation: by ${who}: the command finds no socket, file, process, secret or network of the machine`,
    async (t) => {
      const reachable = runProbe(way, 'namespace')
      t.match(reachable, /^sockets: $/m)
      t.match(reachable, /^abstract: ECONNREFUSED$/m)
      t.notMatch(reachable, secret)
      t.match(reachable, /^environments: $/m)
      t.match(reachable, /^checkout: (\.tools )?node_modules package\.json services $/m)
      t.match(reachable, /^services: shared worker $/m)
      t.match(reachable, /^machine: $/m)
      t.match(reachable, /^processes: ((bwrap|sh|cat|tr) )+$/m)
      t.match(reachable, /^networks: lo $/m)
    },
  )

  t.test(`worker isolation: by ${who}: the command has no capabilities and cannot write to the root`, async (t) => {
    const reachable = runProbe(way, 'namespace')
    t.match(reachable, /^NoNewPrivs:\t1$/m)
    t.match(reachable, /^CapEff:\t0000000000000000$/m)
    t.match(reachable, new RegExp(`^CapBnd:\t${way.bounding}$`, 'm'))
    t.notMatch(reachable, 'root: writable')
  })

  t.test(`planted fault: by ${who} without isolation: the same command finds all of them`, async (t) => {
    const reachable = runProbe(way, 'flags-only')
    for (const { socket } of planted) t.match(reachable, ` ${socket} `)
    t.match(reachable, /^abstract: reached$/m)
    t.match(reachable, `files: ${secret.repeat(planted.length)}`)
    t.match(reachable, `environments: ${secret}`)
    t.match(reachable, /^checkout: .*README\.md/m)
    t.match(reachable, /^services: .*gateway/m)
    t.match(reachable, /^\/sys$/m)
    t.match(reachable, /^processes: .* sleep /m)
    t.match(reachable, /^NoNewPrivs:\t0$/m)
  })

  t.test(`worker isolation: by ${who}: no process outlives the caller, stopped ones included`, async (t) => {
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
  return eventually(() => !processes.some(remains), { what: 'all processes have ended' })
}

/** Empty if the process has ended. */
const readProcStatus = ({ pid }: Process) => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}
const namespacesOf = ({ pid }: Process) =>
  ['user', 'pid', 'net', 'mnt'].map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`))

t.test("worker isolation: Chromium's own sandbox works within it", async (t) => {
  await using egress = await startTestEgress('127.0.0.1:1')
  await using _host = await startTestHost(egress)
  const isConfined = (each: Process) =>
    each.command.includes('--type=renderer') && /^Seccomp:\t2$/m.test(readProcStatus(each))
  await eventually(() => processTree(process.pid).some(isConfined), { what: 'a renderer with a seccomp filter' })
  const all = processTree(process.pid)
  const [browser] = findBrowsers(process.pid)
  const renderer = all.find(isConfined)
  if (!browser || !renderer) return t.fail('no browser')
  const unfiltered = ['browser', 'gpu-process', 'utility network.mojom.NetworkService', 'zygote']
  const typeOf = ({ command }: Process) =>
    [/--type=(\S+)/.exec(command)?.[1] ?? 'browser', /--utility-sub-type=(\S+)/.exec(command)?.[1]].join(' ').trim()
  const withoutFilter = () =>
    processTree(browser.pid).flatMap((each) => (/^Seccomp:\t0$/m.test(readProcStatus(each)) ? [typeOf(each)] : []))
  await eventually(() => withoutFilter().every((type) => unfiltered.includes(type)), {
    what: 'a filter in all processes that may have one',
  })
  t.match(readProcStatus(browser), /^NoNewPrivs:\t1$/m)
  t.match(readProcStatus(browser), /^CapEff:\t0+$/m)
  if (slotUser) t.match(readProcStatus(browser), new RegExp(`^Uid:(\t${slotUser.userId}){4}$`, 'm'))
  t.notOk(readdirSync(`/proc/${browser.pid}/root`).includes('home'), 'the browser has its own file tree')
  const inside = namespacesOf(renderer)
  // The renderer shares the mount namespace with the browser and has its own user, pid and network namespaces.
  for (const [outer, shared] of [[browser, inside.slice(3)] as const, [all[0]!, []] as const]) {
    t.strictSame(
      namespacesOf(outer).filter((space) => inside.includes(space)),
      shared,
    )
  }
})

for (const [what, find] of [
  ['the outermost process', (all: Process[]) => all.find(({ command }) => command.startsWith('bwrap'))],
  ['the host', (all: Process[]) => all.find(({ command }) => command.startsWith(process.execPath))],
] as const) {
  t.test(`worker isolation: no process of a host is left when ${what} is killed`, async (t) => {
    // Other files of the batch may have left some that stay, such as a bundler.
    const others = new Set(processTree(process.pid).map(({ pid }) => pid))
    await using egress = await startTestEgress('127.0.0.1:1')
    await using host = await startTestHost(egress)
    t.match(await captureWith(host, { html: 'x' }), { outcome: 'completed' })
    const started = processTree(process.pid).filter(({ pid }) => !others.has(pid))
    process.kill(find(started)?.pid ?? 0, 'SIGKILL')
    await allGone(started)
    await eventually(() => host.gone.aborted)
  })
}
