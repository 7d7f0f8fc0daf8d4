import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Reads `bytes` bytes, or fewer if the peer closes first. */
const readBytes = async (socket: Socket, bytes: number): Promise<Buffer> => {
  for (;;) {
    const read = socket.read(bytes) as Buffer | null
    if (read !== null) return read
    if (socket.readableEnded || socket.destroyed) return Buffer.alloc(0)
    await Promise.race(['readable', 'end', 'close'].map((name) => once(socket, name))).catch(() => {})
  }
}

/** A SOCKS5 request for a name, as Chromium sends it after its greeting. */
export const socksRequest = (host: string, port: number): Buffer => {
  const name = Buffer.from(host, 'latin1')
  return Buffer.from([5, 1, 0, 3, name.length, ...name, port >> 8, port & 0xff])
}

/** Chromium's greeting. */
export const socksGreeting = Buffer.of(5, 1, 0)

/** Connects through a local SOCKS5 proxy; `reply` is undefined if the proxy closes the connection instead. */
export const connectBySocks = async (
  proxyPort: number,
  host: string,
  port: number,
): Promise<{ readonly socket: Socket; readonly reply: number | undefined }> => {
  const socket = connect({ port: proxyPort, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(socksGreeting)
  await readBytes(socket, 2)
  socket.write(socksRequest(host, port))
  const [, reply] = await readBytes(socket, 10)
  return { socket, reply }
}
