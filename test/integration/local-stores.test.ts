import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem } from '#test/helpers/system.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
/** The bound that the project promises for the return of a store. */
const backMs = 30_000

const dataDir = await mkdtemp(join(tmpdir(), 'shutterfleet-stores-'))
const natsFolder = join(dataDir, 'nats')
/** Less than the size of the results stream. */
const mountBytes = 64 * 2 ** 20
const mount = isRoot ? `mkdir '${natsFolder}' && mount -t tmpfs -o size=${mountBytes} tmpfs '${natsFolder}'` : ''
const system = await startSystem([], { dataDir, mount })
t.teardown(async () => {
  await system.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const pidOf = async (name: string) => {
  const found = (await system.readLocal()).services.find((service) => service.name === name)
  if (!found) throw new Error(`no service ${name}`)
  return found.pid
}

const create = () => system.create({ html: '<h1>kept</h1>' })

const allComplete = (ids: readonly string[], what: string) =>
  eventually(
    async () => {
      const states = await Promise.all(ids.map(async (id) => (await system.record(id)).status))
      if (states.includes('failed')) throw new Error(states.join())
      return states.every((state) => state === 'completed')
    },
    { withinMs: backMs, what },
  )

/** Output of a command, whether it succeeds or not. */
const output = (...args: string[]) =>
  run(commandLine, [...args, '--data', dataDir], { env: { ...process.env, NODE_OPTIONS: '' } }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )

t.test(
  'local stores: while the disk of NATS is full this is reported, and all accepted captures complete once it has space',
  { skip: !isRoot && 'only root may mount a small disk' },
  async (t) => {
    const pid = await pidOf('nats')
    const inNamespace = join(`/proc/${system.pid}/root`, natsFolder)
    const filler = join(inNamespace, 'filler')
    // More than there is, because NATS writes meanwhile.
    await t.rejects(writeFile(filler, Buffer.alloc(mountBytes)), { code: 'ENOSPC' })

    const ids = await Promise.all([create(), create(), create()])
    for (const service of ['gateway', 'ledger']) {
      await eventually(async () => /store_up\{store="nats",component="\w+"\} 0/.test(await system.metrics(service)))
    }
    t.match(await output('status'), /ledger is not ready: .*nats refuses writes: /)
    t.match(await output('doctor'), /FAIL {2}nats/)
    t.equal(await pidOf('nats'), pid, 'no restart on a full disk')

    await rm(filler)
    // By a restart of NATS, unless the stream of the captures refused no write.
    await allComplete(ids, 'captures complete after the disk has space')
    await eventually(async () => /store_up\{store="nats",component="ledger"\} 1/.test(await system.metrics('ledger')))
  },
)

t.test('local stores: frozen NATS and PostgreSQL are replaced, and accepted captures complete', async (t) => {
  const ids = await Promise.all([create(), create()])
  const frozen = await Promise.all(['nats', 'postgres'].map(pidOf))
  for (const { pid } of frozen.flatMap(processTree)) process.kill(pid, 'SIGSTOP')
  await eventually(
    async () => (await Promise.all(['nats', 'postgres'].map(pidOf))).every((pid) => !frozen.includes(pid)),
    { withinMs: 60_000 },
  )
  await allComplete(ids, 'captures complete after the restart')
  t.same(frozen.flatMap(processTree), [], 'nothing is left of the frozen ones')
})
