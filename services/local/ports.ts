import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { readPrivate, writePrivate } from './data-folder.ts'

/** Ports of loopback that others remember: addresses signed in one run are used in the next. */
export type Ports = { readonly gateway: number; readonly objects: number; readonly egress: number } & {
  readonly postgres: number
  readonly nats: number
}

type Names = keyof Ports

/** Listens for a moment. Answers the port, or why it cannot be had. */
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

const choose = async (kept: number | undefined): Promise<number> => {
  for (const wanted of [kept ?? 0, 0]) {
    const got = await probe(wanted)
    if (typeof got === 'number') return got
  }
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: 'no free port on 127.0.0.1' })
}

const required = async (port: number): Promise<number> => {
  const got = await probe(port)
  if (typeof got === 'number') return got
  const why = got.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${got.code})`
  throw new AppError('CONFIGURATION', {
    publicMessage: `port ${port} ${why}; choose another with --port, or --port 0 for a free one`,
  })
}

/** Ports that are free now: the wanted one for the gateway (0: any), and for the rest those of the last run where they still are. */
export const choosePorts = async (path: string, gatewayPort: number): Promise<Ports> => {
  const kept: Partial<Ports> = (await readPrivate<Ports>(path)) ?? {}
  const gateway = gatewayPort === 0 ? await choose(kept.gateway) : await required(gatewayPort)
  const rest: [Names, number][] = []
  for (const name of ['objects', 'egress', 'postgres', 'nats'] as const) rest.push([name, await choose(kept[name])])
  const ports = { gateway, ...Object.fromEntries(rest) } as Ports
  await writePrivate(path, ports)
  return ports
}
