import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { AppError } from '#shared/errors/app-error.ts'
import { type Child, logTail, startChild, stopChild } from './child.ts'
import { natsConfig, type QueuePasswords } from './nats-config.ts'
import { waitUntil } from './wait-for.ts'

/** Reading back what JetStream has stored takes a while after a crash. */
const startMs = 30_000
const helloMs = 1000

/** A NATS server of our own. */
export type NatsOptions = {
  readonly program: string
  /** Folder of its configuration and its stored messages; exists. */
  readonly folder: string
  readonly passwords: QueuePasswords
  readonly port: number
  readonly logPath: string
  readonly env: Readonly<Record<string, string>>
}

/** A NATS server speaks first, once it serves. */
const greets = async (port: number): Promise<boolean> => {
  const socket = connect({ host: '127.0.0.1', port })
  socket.setTimeout(helloMs, () => socket.destroy(new Error('silent')))
  try {
    const [hello] = (await once(socket, 'data')) as [Buffer]
    return hello.toString('latin1').startsWith('INFO ')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Starts nats-server on loopback and waits until it serves. Throws `SERVICE_UNAVAILABLE` with the end of its log. */
export const startNats = async (options: NatsOptions, signal: AbortSignal): Promise<Child> => {
  const config = join(options.folder, 'nats.conf')
  const { port, passwords, logPath } = options
  await writeFile(config, natsConfig({ port, passwords, storeFolder: options.folder }), { mode: 0o600 })
  const child = await startChild({
    command: 'setpriv',
    cwd: '/',
    args: ['--pdeathsig', 'TERM', options.program, '-c', config],
    env: options.env,
    logPath,
  })
  await waitUntil(startMs, async () => child.hasExited() || signal.aborted || (await greets(port)))
  if (!child.hasExited() && !signal.aborted && (await greets(port))) return child
  await stopChild(child, 'SIGTERM', 5000)
  throw new AppError('SERVICE_UNAVAILABLE', {
    publicMessage: `NATS did not start; ${logPath} ends with:\n${await logTail(logPath)}`,
  })
}
