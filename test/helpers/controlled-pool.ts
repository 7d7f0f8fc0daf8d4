import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Pool } from '#shared/capture/lane.ts'
import { accountsText } from '#local/nats-config.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { backlogCodec, type HeartbeatMessage, heartbeatCodec, captureCodec } from '#shared/queue/messages.ts'
import { userInboxPrefix, type QueueUserName, queueUsers } from '#shared/queue/permissions.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { declareStreams, poolDepth } from '#shared/queue/streams.ts'
import { backlogSubject, heartbeatFilter, captureSubject } from '#shared/queue/subjects.ts'
import { attributeToInteractive } from './observed-pool.ts'
import { startNats, type TestNats } from './nats.ts'

const controller = fileURLToPath(import.meta.resolve('#test/fixtures/controller-of-stand-ins.ts'))
const password = 'test'
const countMs = 200

/** A NATS server with the shipped users, and a stand-in for the ledger that reports the backlog every 200 ms. */
export type PoolWorld = AsyncDisposable & {
  readonly nats: TestNats
  readonly urlOf: (user: QueueUserName) => string
  /** The latest heartbeat of each worker, by name. */
  readonly heartbeats: ReadonlyMap<string, HeartbeatMessage>
  readonly send: (count: number, pool?: Pool) => Promise<void>
  readonly depth: (pool?: Pool) => Promise<{ waiting: number; inFlight: number }>
  /** Turns the ledger's backlog reports on or off. */
  readonly setCounting: (isOn: boolean) => void
}

/** A controller in a separate process, with stand-in workers. */
export type ControllerProcess = {
  readonly child: ChildProcess
  readonly probeUrl: string
  /** The response of `/readyz`. */
  readonly health: () => Promise<{ ready: boolean; detail: Record<string, string> }>
}

const startCounting = (queue: Queue, pool: Pool) => {
  let counting = true
  const count = async () => {
    if (!counting) return
    const { waiting, inFlight } = await poolDepth(queue, pool)
    const counts = { pending: waiting, processing: inFlight, oldestMs: 0 }
    const { lanes } = attributeToInteractive(counts, 0)
    queue.publish(backlogSubject(pool), backlogCodec.encode({ pool, ...counts, lanes }))
  }
  // Fails while the server is down; the next report follows soon.
  const timer = setInterval(() => void count().catch(() => {}), countMs)
  return {
    setCounting: (isOn: boolean) => {
      counting = isOn
    },
    stop: () => clearInterval(timer),
  }
}

/** Starts the server and the stand-in ledger; dispose stops them. */
export const startPoolWorld = async (): Promise<PoolWorld> => {
  const passwords = Object.fromEntries(queueUsers.map(({ name }) => [name, password])) as Record<QueueUserName, string>
  const nats = await startNats(undefined, { config: accountsText(passwords) })
  const urlOf = (user: QueueUserName) => nats.url.replace('//', `//${user}:${password}@`)
  const name = 'operator'
  const queue = await connectQueue({ url: urlOf(name), name, inboxPrefix: userInboxPrefix(name), notice: () => {} })
  await declareStreams(queue)
  const heartbeats = new Map<string, HeartbeatMessage>()
  const served = ['standard', 'stealth'] as const
  for (const pool of served) {
    queue.subscribe(heartbeatFilter(pool), ({ data }) => {
      const heartbeat = heartbeatCodec.decode(data)
      heartbeats.set(heartbeat.pod, heartbeat)
    })
  }
  const ledgers = new Map<Pool, ReturnType<typeof startCounting>>(
    served.map((pool) => [pool, startCounting(queue, pool)]),
  )
  return {
    nats,
    urlOf,
    heartbeats,
    depth: (pool = 'standard') => poolDepth(queue, pool),
    setCounting: (isOn) => {
      for (const ledger of ledgers.values()) ledger.setCounting(isOn)
    },
    send: async (count, pool = 'standard') => {
      for (let sent = 0; sent < count; sent += 1) {
        const capture = { pool, lane: 'interactive', accountId: 'a', id: crypto.randomUUID() } as const
        const message = { id: capture.id, pool: capture.pool, budgetMs: 55_000, attempts: 0, sealed: 'x' }
        await publishStored(queue, captureSubject(capture), captureCodec.encode(message))
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const ledger of ledgers.values()) ledger.stop()
      await queue[Symbol.asyncDispose]()
      await nats.stop()
    },
  }
}

/** Starts a controller; `settings` are named without prefix. The caller stops it. */
export const startController = async (
  world: Pick<PoolWorld, 'urlOf'>,
  settings: Readonly<Record<string, string>>,
  main = controller,
): Promise<ControllerProcess> => {
  const worker = {
    SHUTTERFLEET_NATS_URL: world.urlOf('worker_standard'),
    STAND_IN_MODE: 'serve',
    STAND_IN_SERVICE_MS: '300',
  }
  const env: Record<string, string> = {
    SHUTTERFLEET_NATS_URL: world.urlOf('controller'),
    SHUTTERFLEET_LOG_LEVEL: 'error',
    SHUTTERFLEET_WORKER_ENV: JSON.stringify(worker),
    SHUTTERFLEET_PROXIED_WORKER_ENV: '{}',
  }
  for (const [key, value] of Object.entries(settings)) env[`SHUTTERFLEET_${key}`] = value
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the controller ended with ${code}`)))
  const [announced] = (await Promise.race([once(child, 'message'), ended])) as [{ probeUrl: string }]
  ended.catch(() => {})
  return {
    child,
    probeUrl: announced.probeUrl,
    health: async () => {
      const response = await fetch(`${announced.probeUrl}/readyz`)
      return (await response.json()) as { ready: boolean; detail: Record<string, string> }
    },
  }
}

/** Sends a signal to a controller and waits for its exit; returns the exit code, or the signal that ended it. */
export const endController = async ({ child }: ControllerProcess, signal: NodeJS.Signals): Promise<number | string> => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode ?? ''
  const ended = once(child, 'exit')
  child.kill(signal)
  const [code, by] = (await ended) as [number | null, string | null]
  return code ?? by ?? ''
}
