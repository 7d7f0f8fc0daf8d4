import { createServer, type Socket } from 'node:net'
import { listening } from './egress-filter.ts'

/** The reply to one received chunk; `null` closes the connection right after the previous reply. */
export type Reply = string | Uint8Array | null

/** A running scripted proxy; `received` contains the received chunks. */
export type ScriptedProxy = AsyncDisposable & {
  readonly port: number
  readonly received: readonly Buffer[]
  readonly sockets: readonly Socket[]
}

/** A proxy that responds to each chunk with the next reply, and not at all once there is none left. */
export const startScriptedProxy = async (...replies: readonly Reply[]): Promise<ScriptedProxy> => {
  const received: Buffer[] = []
  const sockets: Socket[] = []
  const answer = (socket: Socket) => {
    let next = 0
    socket.on('data', (chunk) => {
      received.push(chunk)
      const reply = replies[next] ?? ''
      socket.write(reply)
      next += 1
      if (replies[next] === null || replies[next - 1] === null) socket.end()
    })
  }
  const server = createServer((socket) => {
    sockets.push(socket)
    answer(socket)
  })
  return { ...(await listening(server)), received, sockets }
}
