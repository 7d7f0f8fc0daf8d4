import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { succeeds } from '#shared/process/succeeds.ts'
import { type Child, startChild, startError, stopChild } from './child.ts'
import { natsConfig } from './nats-config.ts'
import { type Facts, machineEnv } from './service-env.ts'
import { waitUntil } from './wait-for.ts'

/** Allows for JetStream's recovery of its streams after a crash. */
const startMs = 30_000
const helloMs = 1000

const greetingCharactersMax = 65_536

/** Reads the INFO that a NATS server sends before authentication. Throws after `waitMs` of silence, or if the connection closes. */
export const readGreeting = async (to: { host: string; port: number }, waitMs: number): Promise<string> => {
  const socket = connect(to).setEncoding('utf8')
  socket.setTimeout(waitMs, () => socket.destroy(new Error('no response')))
  let text = ''
  for await (const part of socket) {
    text += part
    if (text.includes('\r\n') || text.length > greetingCharactersMax) break
  }
  if (text.startsWith('INFO ')) return text
  throw new Error('closed without INFO')
}

const isServing = (port: number): Promise<boolean> => succeeds(readGreeting({ host: '127.0.0.1', port }, helloMs))

/** Starts our own nats-server on loopback and waits until it serves. Throws `SERVICE_UNAVAILABLE` with the end of its log. */
export const startNats = async (facts: Facts, program: string, signal: AbortSignal): Promise<Child> => {
  const { folder, ports, secrets } = facts
  const { nats: port, natsHealth } = ports
  const [config, logPath] = [join(folder.nats, 'nats.conf'), join(folder.logs, 'nats.log')]
  const to = { listen: `127.0.0.1:${port}`, http: `127.0.0.1:${natsHealth}`, storeFolder: folder.nats }
  await writeFile(config, natsConfig(to, secrets.queuePasswords), { mode: 0o600 })
  const child = await startChild({
    command: 'setpriv',
    cwd: '/',
    args: ['--pdeathsig', 'TERM', program, '-c', config],
    env: machineEnv(facts.operator),
    logPath,
  })
  await waitUntil(startMs, async () => child.hasExited() || signal.aborted || (await isServing(port)))
  if (!child.hasExited() && !signal.aborted && (await isServing(port))) return child
  await stopChild(child, 'SIGTERM', 5000)
  throw await startError('NATS did not start', logPath)
}
