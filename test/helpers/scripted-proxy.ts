import { createServer, type Socket } from 'node:net'
import { listening } from './egress-filter.ts'

/** What is sent back for one thing that was heard; `null` hangs up, right behind the reply before it. */
export type Reply = string | Uint8Array | null

/** A running scripted proxy; `heard` holds what its clients said, in the pieces that arrived. */
export type ScriptedProxy = AsyncDisposable & {
  readonly port: number
  readonly heard: readonly Buffer[]
  readonly sockets: readonly Socket[]
}

/** A proxy that answers each thing that it hears with the next reply, and is silent once there is none. */
export const startScriptedProxy = async (...replies: readonly Reply[]): Promise<ScriptedProxy> => {
  const heard: Buffer[] = []
  const sockets: Socket[] = []
  const answer = (socket: Socket) => {
    let next = 0
    socket.on('data', (chunk) => {
      heard.push(chunk)
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
  return { ...(await listening(server)), heard, sockets }
}
