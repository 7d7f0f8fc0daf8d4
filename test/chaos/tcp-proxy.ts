import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What happens to bytes: `hold` keeps them until the mode changes, as a partition does; `reset` breaks connections. */
export type TcpMode = 'pass' | 'hold' | 'reset' | { readonly latencyMs: number; readonly bytesPerSecond: number }

/** A proxy in front of a server, which knows the process behind each connection. */
export type TcpProxy = AsyncDisposable & {
  /** Sets the mode of the connections of one process, present and later ones; of all without `client`. */
  readonly set: (mode: TcpMode, client?: string) => void
}

const read = <T>(get: () => T, otherwise: T): T => {
  try {
    return get()
  } catch {
    return otherwise
  }
}

/** Inode of the socket of this machine that is bound to a port of loopback; from /proc/net/tcp. */
const inodeOf = (port: number): string => {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  const fields = lines.map((line) => line.trim().split(/\s+/)).find((each) => each[1]?.endsWith(suffix))
  return fields?.[9] ?? ''
}

const ownsSocket = (pid: number, inode: string): boolean =>
  read(() => readdirSync(`/proc/${pid}/fd`), []).some(
    (fd) => read(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '') === `socket:[${inode}]`,
  )

type Pair = { readonly near: Socket; readonly far: Socket; readonly client: string }

/**
 * Listens on `port` of 127.0.0.1 and forwards each connection to `target()`, by default the same port of 127.0.0.2. `clients`
 * returns names of processes by their ids.
 */
export const startTcpProxy = async (
  port: number,
  clients: () => Promise<ReadonlyMap<number, string>>,
  target: () => { readonly host: string; readonly port: number } = () => ({ host: '127.0.0.2', port }),
): Promise<TcpProxy> => {
  const modes = new Map<string, TcpMode>()
  const pairs = new Set<Pair>()
  let changed = Promise.withResolvers<void>()
  const modeOf = (client: string): TcpMode => modes.get(client) ?? modes.get('') ?? 'pass'

  const forward = async (from: Socket, to: Socket, client: string) => {
    try {
      for await (const bytes of from as AsyncIterable<Buffer>) {
        const mode = modeOf(client)
        if (typeof mode === 'object') await delay(mode.latencyMs + (bytes.length / mode.bytesPerSecond) * 1000)
        while (modeOf(client) === 'hold') await changed.promise
        if (!to.writable) break
        if (!to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')])
      }
    } catch {
      // Either end was reset.
    }
    while (modeOf(client) === 'hold') await changed.promise
    from.destroy()
    to.destroy()
  }

  const nameOf = async (near: Socket): Promise<string> => {
    const inode = inodeOf(near.remotePort ?? 0)
    for (const [pid, name] of await clients()) if (inode !== '' && ownsSocket(pid, inode)) return name
    return 'other'
  }
  const serve = async (near: Socket) => {
    near.on('error', () => {})
    const client = await nameOf(near).catch(() => 'other')
    if (modeOf(client) === 'reset') return near.resetAndDestroy()
    const far = connect(target())
    far.on('error', () => near.destroy())
    const pair = { near, far, client }
    pairs.add(pair)
    await Promise.all([forward(near, far, client), forward(far, near, client)])
    pairs.delete(pair)
    return undefined
  }
  const server = createServer((near) => void serve(near))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    set: (mode, client = '') => {
      modes.set(client, mode)
      if (mode === 'pass') modes.delete(client)
      changed.resolve()
      changed = Promise.withResolvers()
      if (mode !== 'reset') return
      for (const pair of pairs) if (modeOf(pair.client) === 'reset') pair.near.resetAndDestroy()
    },
    [Symbol.asyncDispose]: async () => {
      modes.clear()
      changed.resolve()
      server.close()
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
    },
  }
}
