import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serviceNames } from '#shared/config/services.ts'
import { resultCodec, startedCodec } from '#shared/queue/messages.ts'
import { deleteMessages } from '#shared/queue/streams.ts'
import { resultSubject, startedFilter } from '#shared/queue/subjects.ts'
import { capturesStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { signalAll } from '#test/helpers/process-tree.ts'
import { connectToNats } from './connect-to-nats.ts'
import type { Fault } from './fault.ts'
import { disturbNatsServer, failOver, replicaFaults } from './replica-faults.ts'
import { cutSenderOff } from './sender-fault.ts'
import type { StoreMode } from './store-proxy.ts'
import type { TcpMode } from './tcp-proxy.ts'
import type { World, WorldKind } from './world.ts'

const run = promisify(execFile)

/** Processes of a one-machine installation that the nemesis stops. */
export const processNames = [...serviceNames, 'worker', 'browser', 'nats', 'postgres']

const nothing = async () => {}

/** Worlds whose PostgreSQL and NATS are started by `up`. */
const withOwnServers = ['files', 's3', 'cells'] as const
const worldsOf = (process: string): Pick<Fault, 'worlds'> =>
  process === 'nats' || process === 'postgres' ? { worlds: withOwnServers } : {}

const kill = (name: string, by: NodeJS.Signals = 'SIGKILL'): Fault => ({
  ...worldsOf(name),
  durationsMs: [0],
  begin: async (world) => {
    signalAll(await world.pidsOf(name), by)
    return nothing
  },
})

const freeze = (name: string): Fault => ({
  ...worldsOf(name),
  durationsMs: [500, 2000, 6000, 12_000, 25_000],
  begin: async (world) => {
    const pids = await world.treeOf(name)
    signalAll(pids, 'SIGSTOP')
    return async () => signalAll(pids, 'SIGCONT')
  },
})

const outageMs = [3000, 8000, 15_000] as const

/** Fills a disk to its last block. */
const fill = (folder: 'nats' | 'postgres' | 'objects', worlds: readonly WorldKind[]): Fault => ({
  worlds,
  durationsMs: outageMs,
  begin: async (world) => {
    const path = join(world.dataDir, folder, 'filler')
    // Ends with an error, because the disk is full; ignored.
    await run('dd', ['if=/dev/zero', `of=${path}`, 'bs=16k']).catch(() => {})
    return () => rm(path, { force: true })
  },
})

const refuse = (mode: StoreMode): Fault => ({
  worlds: ['s3'],
  durationsMs: outageMs,
  begin: async (world) => {
    world.store?.set(mode)
    return async () => world.store?.set('pass')
  },
})

const disturb = (server: 'nats' | 'postgres', mode: TcpMode, client?: string): Fault => ({
  durationsMs: outageMs,
  begin: async (world) => {
    world.proxies[server].set(mode, client)
    return async () => world.proxies[server].set('pass', client)
  },
})

/** Longest time in which `up` restarts NATS. */
const restartMs = 60_000

/** Ids of NATS once it runs: another fault may just have killed it, and its folder must not be taken away under its successor. */
const runningNats = async (world: World): Promise<number[]> => {
  let pids: number[] = []
  const isRunning = async () => {
    pids = await world.pidsOf('nats')
    return pids.length > 0 && pids.every((pid) => existsSync(`/proc/${pid}`))
  }
  await eventually(isRunning, { withinMs: restartMs, what: 'NATS runs' })
  return pids
}

/** Kills NATS and lets it restart on the store of some seconds before: it syncs to the disk every two minutes. */
const loseWrites: Fault = {
  worlds: withOwnServers,
  durationsMs: [1000, 3000],
  begin: async (world) => {
    const [store, old] = [join(world.dataDir, 'nats/jetstream'), join(world.dataDir, 'nats/old')]
    const pids = await runningNats(world)
    signalAll(pids, 'SIGSTOP')
    await run('cp', ['-a', store, old])
    signalAll(pids, 'SIGCONT')
    return async () => {
      const again = await runningNats(world)
      signalAll(again, 'SIGSTOP')
      await rename(store, join(world.dataDir, 'nats/lost'))
      await rename(old, store)
      signalAll(again, 'SIGKILL')
      await rm(join(world.dataDir, 'nats/lost'), { recursive: true, force: true })
    }
  },
}

const loseDisk: Fault = {
  worlds: withOwnServers,
  durationsMs: [0],
  begin: async (world) => {
    const lost = join(world.dataDir, 'nats/lost')
    const pids = await runningNats(world)
    signalAll(pids, 'SIGSTOP')
    await rename(join(world.dataDir, 'nats/jetstream'), lost)
    signalAll(pids, 'SIGKILL')
    return () => rm(lost, { recursive: true, force: true })
  },
}

/** Reports a failure of each capture that begins, as a worker would that does not have its token. */
const forgeResults: Fault = {
  durationsMs: [8000],
  begin: async (world) => {
    const queue = await connectToNats(world)
    const subscription = queue.subscribe(startedFilter('standard'), ({ data }) => {
      const { id, attempt } = startedCodec.decode(data)
      const forged = { id, attempt, token: 'forged', code: 'RENDER_ERROR', timings: {} } as const
      queue.publish(resultSubject({ pool: 'standard', id }), resultCodec.encode({ ...forged, outcome: 'failed' }))
    })
    return async () => {
      subscription[Symbol.dispose]()
      await queue[Symbol.asyncDispose]()
    }
  },
}

/** Deletes the message of each capture that begins, and kills the worker that holds it: only PostgreSQL still has the capture. */
const loseWhatBegins: Fault = {
  durationsMs: [4000],
  begin: async (world) => {
    const queue = await connectToNats(world)
    const subscription = queue.subscribe(startedFilter('standard'), ({ data }) => {
      const { id, kind } = startedCodec.decode(data)
      if (kind !== 'begun') return
      void world.pidsOf('worker').then((pids) => signalAll(pids, 'SIGKILL'))
      void deleteMessages(queue, capturesStream.name, `capture.*.*.*.${id}`).catch(() => {})
    })
    return async () => {
      subscription[Symbol.dispose]()
      await queue[Symbol.asyncDispose]()
    }
  },
}

/** Moves the calendar of all processes but NATS, which is linked statically. */
const jump = (seconds: number): Fault => ({
  durationsMs: outageMs,
  begin: async (world) => {
    // In place and as long as before, because the processes have mapped it.
    const write = (text: string) => writeFile(world.clockFile, text.padEnd(8), { flag: 'r+' })
    await write(String(seconds))
    return () => write('0')
  },
})

const slow: TcpMode = { latencyMs: 150, bytesPerSecond: 100_000 }

const natsClients = ['gateway', 'ledger', 'controller', 'worker'] as const
const postgresClients = ['gateway', 'ledger', 'webhooks'] as const

/** All faults by name. */
export const faults: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries(processNames.map((name) => [`kill ${name}`, kill(name)])),
  ...Object.fromEntries(processNames.map((name) => [`freeze ${name}`, freeze(name)])),
  'kill router': { ...kill('router'), worlds: ['cells'] },
  'restart postgres': kill('postgres', 'SIGINT'),
  'fill nats': fill('nats', withOwnServers),
  'fill postgres': fill('postgres', withOwnServers),
  'fill objects': fill('objects', ['files', 'replicated']),
  'store answers 403': refuse({ status: 403 }),
  'store answers 507': refuse({ status: 507 }),
  'store resets': refuse('reset'),
  'store takes half': refuse('half'),
  'store confirms late': refuse({ responseMs: 3000 }),
  // Later than a worker waits for it.
  'store confirms too late': refuse({ responseMs: 11_000 }),
  'slow store': refuse({ waitMs: 2000 }),
  'slow nats': disturb('nats', slow),
  'slow postgres': disturb('postgres', slow),
  'reset nats': disturb('nats', 'reset'),
  'reset postgres': disturb('postgres', 'reset'),
  ...Object.fromEntries(natsClients.map((name) => [`part ${name} from nats`, disturb('nats', 'hold', name)])),
  ...Object.fromEntries(
    postgresClients.map((name) => [`part ${name} from postgres`, disturb('postgres', 'hold', name)]),
  ),
  'nats loses writes': loseWrites,
  'nats loses its disk': loseDisk,
  'forged results': forgeResults,
  'nats loses what begins': loseWhatBegins,
  'cut off a sender': cutSenderOff,
  'fail postgres over': failOver,
  ...replicaFaults,
  'kill a nats server of three': disturbNatsServer('kill'),
  'freeze a nats server of three': disturbNatsServer('freeze'),
  'a nats server of three loses its disk': disturbNatsServer('wipe'),
  'clock forward': jump(90),
  'clock back': jump(-90),
}
