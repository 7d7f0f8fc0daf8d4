import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort } from './free-port.ts'

const startMs = 15_000
const pollMs = 20
/** The kernel kills the server if the test process is killed. */
const endWithParent = ['setpriv', '--pdeathsig', 'KILL'] as const
const pinned = resolve(import.meta.dirname, '../../.tools/nats-server-2.15.1/nats-server')

/** A NATS server of one test. The address survives `restart` and `wipe`. */
export type TestNats = AsyncDisposable & {
  readonly url: string
  /** Where it stores its streams. */
  readonly storeFolder: string
  /** Process id of the current server. */
  readonly pid: number
  /** Stops the server and removes its folder. Idempotent. */
  readonly stop: () => Promise<void>
  /**
   * Kills the server as in a crash and restarts it on the same disk, with another limit if given; resolves once it listens.
   * A `restart` or `wipe` that is called meanwhile follows it.
   */
  readonly restart: (maxFileStore?: string) => Promise<void>
  /** Like `restart`, with an empty disk: every stream and consumer is gone. */
  readonly wipe: () => Promise<void>
}

/** A test with cleanup functions, such as tap's `t`. */
type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

const configText = (folder: string, address: string, extra: string, maxFileStore: string) => `
listen: "${address}"
ports_file_dir: "${folder}"
max_payload: 8388608
jetstream { store_dir: "${join(folder, 'store')}", max_file_store: ${maxFileStore} }
${extra}
`

const kill = async (server: ChildProcess) => {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}

/** Reads the port from the file that the server writes as the last step of its start. */
const listeningPort = async (folder: string, server: ChildProcess): Promise<number> => {
  for (const end = performance.now() + startMs; performance.now() < end;) {
    if (server.exitCode !== null) break
    const name = (await readdir(folder)).find((entry) => entry.endsWith(`_${server.pid}.ports`))
    const written = name === undefined ? '' : await readFile(join(folder, name), 'utf8')
    const found = /(?:nats|tls):\/\/[^"]+:(\d+)/.exec(written)
    if (found) return Number(found[1])
    await new Promise((wake) => setTimeout(wake, pollMs))
  }
  await kill(server)
  const log = await readFile(join(folder, 'log'), 'utf8').catch(() => 'it wrote no log')
  throw new Error(`nats-server did not start within ${startMs} ms: ${log}`)
}

const launch = async (folder: string, address: string, extra: string, maxFileStore: string) => {
  const config = join(folder, 'nats.conf')
  await writeFile(config, configText(folder, address, extra, maxFileStore))
  const program = existsSync(pinned) ? pinned : 'nats-server'
  const args = [...endWithParent.slice(1), program, '-c', config, '-l', join(folder, 'log')]
  const server = spawn(endWithParent[0], args, { stdio: 'ignore' })
  await once(server, 'spawn')
  return { server, port: await listeningPort(folder, server) }
}

/**
 * Starts nats-server on a free port of `host`, by default of loopback, with JetStream in a new folder. `config` is
 * added to its configuration file (for example users); `maxFileStore` is JetStream's limit. Stopped at the test's end if `t` is given, else by the caller.
 */
export const startNats = async (
  t?: WithTeardown,
  options: { config?: string; host?: string; maxFileStore?: string } = {},
): Promise<TestNats> => {
  const folder = await mkdtemp(join(tmpdir(), 'nats-'))
  const { config: extra = '', host = '127.0.0.1', maxFileStore = '2TB' } = options
  let running = await launch(folder, `${host}:-1`, extra, maxFileStore)
  let restarted: Promise<void> = Promise.resolve()
  const again = (limit = maxFileStore, prepare = async () => {}): Promise<void> => {
    const before = restarted.catch(() => {})
    restarted = (async () => {
      await before
      await kill(running.server)
      await prepare()
      running = await launch(folder, `${host}:${running.port}`, extra, limit)
    })()
    return restarted
  }
  const stop = async () => {
    await kill(running.server)
    await rm(folder, { recursive: true, force: true })
  }
  t?.teardown(stop)
  return {
    url: `nats://${host}:${running.port}`,
    storeFolder: join(folder, 'store'),
    get pid() {
      return running.server.pid ?? 0
    },
    stop,
    restart: (limit) => again(limit),
    wipe: () => again(maxFileStore, () => rm(join(folder, 'store'), { recursive: true, force: true })),
    [Symbol.asyncDispose]: stop,
  }
}

/** Starts three servers that form a cluster, by name. Clients learn only of the addresses that they are given. */
export const startNatsCluster = async (
  t?: WithTeardown,
  host = '127.0.0.1',
): Promise<ReadonlyMap<string, TestNats>> => {
  const ports = await Promise.all([freePort(), freePort(), freePort()])
  const routes = ports.map((port) => `"nats://${host}:${port}"`).join(', ')
  const start = async (port: number) => {
    const cluster = `cluster { name: shots, no_advertise: true, listen: "${host}:${port}", routes: [${routes}] }`
    return [`s${port}`, await startNats(t, { host, config: `server_name: "s${port}"\n${cluster}` })] as const
  }
  return new Map(await Promise.all(ports.map(start)))
}
