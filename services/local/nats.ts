import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Child, startChild, startError, stopChild } from './child.ts'
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

const greetingCharactersMax = 65_536

/** The INFO that a NATS server sends first, before its client authenticates. Throws where it does not within `waitMs`. */
export const readGreeting = async (to: { host: string; port: number }, waitMs: number): Promise<string> => {
  const socket = connect(to).setEncoding('utf8')
  socket.setTimeout(waitMs, () => socket.destroy(new Error('no answer')))
  let text = ''
  for await (const part of socket) {
    text += part
    if (text.includes('\r\n') || text.length > greetingCharactersMax) break
  }
  if (text.startsWith('INFO ')) return text
  throw new Error('closed without INFO')
}

const greets = (port: number): Promise<boolean> =>
  readGreeting({ host: '127.0.0.1', port }, helloMs).then(
    () => true,
    () => false,
  )

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
  throw await startError('NATS did not start', logPath)
}
