import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Lane, Pool } from '#shared/capture/lane.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import type { Queue } from '#shared/queue/connection.ts'
import {
  resultCodec,
  type ResultMessage,
  sealedCodec,
  startedCodec,
  type StartedMessage,
} from '#shared/queue/messages.ts'
import { publishCapture } from '#shared/queue/publish-capture.ts'
import { type SealingKey, seal } from '#shared/queue/seal.ts'
import { lastMessage } from '#shared/queue/stored.ts'
import { resultSubject, startedSubject } from '#shared/queue/subjects.ts'
import { resultsStream } from '#shared/queue/topology.ts'
import { newObjectKey } from '#shared/storage/objects.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { nodeEnv } from './node-env.ts'
import { testProgramPath } from './test-program-path.ts'
import { testRecords } from '#test/helpers/record-seal.ts'

const programs = { 'main.ts': testProgramPath('worker/main'), 'main-job.ts': testProgramPath('worker/main-job') }

/** Accepts signed PUTs and stores bodies by path; rejects the next `refusals` with a status; delays responses while held. */
export const startObjectSink = async (host = '127.0.0.1') => {
  const objects = new Map<string, Buffer>()
  let refusals = 0
  let refusal = 503
  let isHeld = false
  const held: (() => void)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const key = (request.url ?? '').slice(1)
    if (isHeld) await new Promise<void>((release) => held.push(release))
    if (refusals > 0) {
      refusals -= 1
      response.writeHead(refusal).end()
    } else if (objects.has(key) && request.headers['if-none-match'] === '*') response.writeHead(412).end()
    else {
      objects.set(key, Buffer.concat(chunks))
      response.writeHead(200).end()
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    objects,
    refuse: (times: number, status = 503) => {
      refusals = times
      refusal = status
    },
    /** Delays the responses to PUTs until `release`. */
    hold: () => {
      isHeld = true
    },
    held: () => held.length,
    release: () => {
      isHeld = false
      for (const answer of held.splice(0)) answer()
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export type WorkerProcess = AsyncDisposable & {
  readonly pid: number
  readonly probeUrl: string
  readonly log: () => string
  readonly child: ChildProcess
  /** Exit code; null if a signal ended the process. */
  readonly ended: Promise<number | null>
  /** Sends SIGTERM and returns the exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts a worker without waiting until it is ready. */
export const spawnWorker = (settings: Readonly<Record<string, string>>, main: 'main.ts' | 'main-job.ts') => {
  const child = spawn(process.execPath, [programs[main]], {
    env: { ...nodeEnv, SHUTTERFLEET_CHROMIUM: chromiumPath, ...settings },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { child, ended, log: () => log }
}

/** Starts a worker, by default of a pool, and waits until it is ready. Throws its output if it exits before that. */
export const startWorker = async (
  settings: Readonly<Record<string, string>>,
  main: 'main.ts' | 'main-job.ts' = 'main.ts',
): Promise<WorkerProcess> => {
  const { child, ended, log } = spawnWorker(settings, main)
  const [first] = await Promise.race([once(child, 'message'), ended.then(() => [undefined])])
  if (!first) throw new Error(`exit code ${child.exitCode}: ${log()}`)
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return {
    pid: child.pid ?? 0,
    probeUrl: (first as { probeUrl: string }).probeUrl,
    log,
    child,
    ended,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await ended
      }
    },
  }
}

/** A capture in the queue, as gateway and ledger publish it. */
export type Sent = { readonly id: string; readonly token: string; readonly keys: readonly string[] }

/** The account of captures that name none. */
const soleAccountId = crypto.randomUUID()

/** Publishes a capture; `over` overrides fields of the message. */
export const sendCapture = async (
  to: { queue: Queue; sealingKey: SealingKey; storeUrl: string },
  parameters: CaptureParameters,
  overrides: { budgetMs?: number; attempts?: number; id?: string; accountId?: string; pool?: Pool; lane?: Lane } = {},
): Promise<Sent> => {
  const id = overrides.id ?? crypto.randomUUID()
  const options = withDefaults({ timeout: 5, ...parameters })
  const token = crypto.randomUUID()
  const puts = [1, 2, 3].map(() => {
    const key = newObjectKey(id, new Date())
    return { key, url: `${to.storeUrl}/${key}` }
  })
  await publishCapture(to.queue, {
    id,
    accountId: overrides.accountId ?? soleAccountId,
    pool: overrides.pool ?? 'standard',
    lane: overrides.lane ?? 'normal',
    budgetMs: overrides.budgetMs ?? (options.timeout + options.delay + 20) * 1000,
    attempts: overrides.attempts ?? 0,
    sealed: seal(to.sealingKey, id, sealedCodec.encode({ options, token, resultKey: testRecords.resultKey(id), puts })),
  })
  return { id, token, keys: puts.map(({ key }) => key) }
}

/** The latest start report of a capture. */
export const waitForStarted = async (
  queue: Queue,
  id: string,
  pool: Pool = 'standard',
): Promise<StartedMessage | undefined> => {
  const bytes = (await lastMessage(queue, resultsStream.name, startedSubject({ pool, id })))?.data
  return bytes && startedCodec.decode(bytes)
}

/** The result of a capture, or undefined while there is none. */
export const waitForResult = async (
  queue: Queue,
  id: string,
  pool: Pool = 'standard',
): Promise<ResultMessage | undefined> => {
  const bytes = (await lastMessage(queue, resultsStream.name, resultSubject({ pool, id })))?.data
  return bytes && resultCodec.decode(bytes)
}

/** Waits for the result of a capture. */
export const awaitResult = async (queue: Queue, id: string, pool: Pool = 'standard'): Promise<ResultMessage> => {
  let result: ResultMessage | undefined
  await eventually(async () => (result = await waitForResult(queue, id, pool)) !== undefined, {
    withinMs: 30_000,
    what: `result of ${id}`,
  })
  return result!
}
