import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { prefix } from '#shared/config/read-env.ts'
import { adminSettings } from '#shared/config/settings/admin.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { readPrivate, writePrivate } from './data-folder.ts'

const others = ['objects', 'egress', 'webhookEgress', 'postgres', 'nats', 'natsHealth'] as const

/** Ports on loopback. They are stored because URLs signed in one run are used in the next. */
export type Ports = Readonly<Record<'gateway' | (typeof others)[number], number>>

const loopback = '127.0.0.1'

/** Listens briefly; returns the port, or the error if it cannot be used. */
const probe = async (port: number, host = loopback): Promise<number | NodeJS.ErrnoException> => {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  } catch (error) {
    return error as NodeJS.ErrnoException
  } finally {
    server.close()
  }
}

/** Below the kernel's ephemeral ports, so that no outgoing connection takes a chosen port before its service does. */
const range = { from: 10_240, to: 32_768 }
const triesMax = 50

const choose = async (previous: number | undefined, taken: ReadonlySet<number>): Promise<number> => {
  const preferred = previous ?? randomInt(range.from, range.to)
  for (let tries = 0, port = preferred; tries < triesMax; tries += 1, port = randomInt(range.from, range.to)) {
    const probed = taken.has(port) ? undefined : await probe(port)
    if (typeof probed === 'number') return probed
  }
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: 'no free port on 127.0.0.1' })
}

/** A port that the operator chose, and how to choose another. */
type ChosenPort = { readonly port: number; readonly host?: string | undefined; readonly choice: string }

const checkPort = async ({ port, host, choice }: ChosenPort): Promise<number> => {
  const probed = await probe(port, host)
  if (typeof probed === 'number') return probed
  const reason = probed.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${probed.code})`
  throw new AppError('CONFIGURATION', { publicMessage: `port ${port} ${reason}; ${choice}` })
}

/** Where the services listen that clients reach: the gateway, port 0 for any free one, and the administration if it is on. */
export type PublicPorts = {
  readonly gatewayPort: number
  readonly gatewayHost?: string
  readonly admin?: { readonly port: number; readonly host: string } | undefined
}

const adminVariable = prefix + adminSettings.adminPort.name

const checkAdminPort = async ({ gatewayPort, admin }: PublicPorts): Promise<number[]> => {
  if (!admin || admin.port === 0) return []
  const choice = `the administration listens on it: choose another with ${adminVariable}`
  if (admin.port !== gatewayPort) return [await checkPort({ ...admin, choice })]
  const publicMessage = `port ${gatewayPort} is that of the HTTP interface and of the administration: choose another with --port or ${adminVariable}`
  throw new AppError('CONFIGURATION', { publicMessage })
}

/** Keeps a port from being chosen until disposed. */
export const holdPort = async (port: number, host: string): Promise<Disposable> => {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  return { [Symbol.dispose]: () => void server.close() }
}

/**
 * The port on which clients are served: the chosen one, or for 0 a free one, if possible that of the last run. Throws
 * `CONFIGURATION` if it is in use.
 */
export const choosePublicPort = async (
  { port, host }: Omit<ChosenPort, 'choice'>,
  previous?: number,
  taken: ReadonlySet<number> = new Set(),
): Promise<number> =>
  port === 0
    ? choose(previous, taken)
    : checkPort({ port, host, choice: 'choose another with --port, or --port 0 for a free one' })

/**
 * Chooses free ports: those of `listening` as they are, others as in the last run if still free. Throws `CONFIGURATION` that
 * names the setting if a port of `listening` is in use.
 */
export const choosePorts = async (path: string, listening: PublicPorts): Promise<Ports> => {
  const { gatewayPort, gatewayHost: host } = listening
  const previous: Partial<Ports> = (await readPrivate<Ports>(path)) ?? {}
  const taken = new Set(await checkAdminPort(listening))
  const gateway = await choosePublicPort({ port: gatewayPort, host }, previous.gateway, taken)
  taken.add(gateway)
  const rest: [keyof Ports, number][] = []
  for (const name of others) {
    const port = await choose(previous[name], taken)
    taken.add(port)
    rest.push([name, port])
  }
  const ports = { gateway, ...Object.fromEntries(rest) } as Ports
  await writePrivate(path, ports)
  return ports
}
