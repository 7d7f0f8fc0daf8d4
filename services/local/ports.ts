import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { readPrivate, writePrivate } from './data-folder.ts'

const others = ['objects', 'egress', 'webhookEgress', 'postgres', 'nats', 'natsHealth'] as const

/** Ports on loopback. They are stored because URLs signed in one run are used in the next. */
export type Ports = Readonly<Record<'gateway' | (typeof others)[number], number>>

/** Listens briefly; returns the port, or the error if it cannot be used. */
const probe = async (port: number): Promise<number | NodeJS.ErrnoException> => {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
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

const required = async (port: number): Promise<number> => {
  const probed = await probe(port)
  if (typeof probed === 'number') return probed
  const reason = probed.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${probed.code})`
  throw new AppError('CONFIGURATION', {
    publicMessage: `port ${port} ${reason}; choose another with --port, or --port 0 for a free one`,
  })
}

/** Chooses free ports: `gatewayPort` for the gateway (0: any); others as in the last run if still free. Throws `CONFIGURATION` if `gatewayPort` is in use. */
export const choosePorts = async (path: string, gatewayPort: number): Promise<Ports> => {
  const previous: Partial<Ports> = (await readPrivate<Ports>(path)) ?? {}
  const gateway = gatewayPort === 0 ? await choose(previous.gateway, new Set()) : await required(gatewayPort)
  const taken = new Set([gateway])
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
