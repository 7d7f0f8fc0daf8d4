import { connect, type Socket } from 'node:net'
import { quantile } from './quantile.ts'

/** What is asked of a server, and how. */
export type Load = {
  readonly port: number
  /** Whole HTTP/1.1 requests as text, sent in turn. */
  readonly requests: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Requests a second, evenly spaced whatever the answers do; absent: each connection asks again at once. */
  readonly perSecond?: number
}

/** What came of it. Milliseconds run from when a request was due, not from when a connection was free for it. */
export type LoadResult = {
  readonly perSecond: number
  readonly answers: number
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}

const headEnd = '\r\n\r\n'
const lengthName = 'content-length: '

/** A whole answer: its status, and its body with one character for each byte. */
export type HttpAnswer = { readonly status: string; readonly body: string }

/** The answer that `text` begins with, and its bytes; undefined where it is not whole. */
const answerIn = (text: string): (HttpAnswer & { bytes: number }) | undefined => {
  const end = text.indexOf(headEnd)
  if (end < 0) return undefined
  const at = text.slice(0, end).toLowerCase().indexOf(lengthName)
  const length = at < 0 ? 0 : Number.parseInt(text.slice(at + lengthName.length), 10)
  const bytes = end + headEnd.length + length
  if (text.length < bytes) return undefined
  return { status: text.slice(9, 12), body: text.slice(end + headEnd.length, bytes), bytes }
}

/** A connection that carries one request at a time. */
export const openConnection = (port: number) => {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let waiting: { resolve: (answer: HttpAnswer) => void; reject: (cause: unknown) => void } | undefined
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    const answer = answerIn(text)
    if (!answer) return
    text = text.slice(answer.bytes)
    const { resolve } = waiting ?? {}
    waiting = undefined
    resolve?.(answer)
  })
  const fail = () => waiting?.reject(new Error('disconnected'))
  socket.on('error', fail)
  socket.on('close', fail)
  return {
    ask: (request: string) =>
      new Promise<HttpAnswer>((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request, 'latin1')
      }),
    close: () => socket.destroy(),
  }
}

/** When the next request is due, or undefined at the end; `turn` counts from 0. */
const dueAt = ({ perSecond, seconds }: Load, began: number, turn: number): number | undefined => {
  const end = began + seconds * 1000
  const due = perSecond === undefined ? performance.now() : began + (turn * 1000) / perSecond
  return due < end ? due : undefined
}

/** Sends a load and waits for the last answer. Throws if a connection is lost. */
export const sendLoad = async (load: Load): Promise<LoadResult> => {
  const connections = Array.from({ length: load.connections }, () => openConnection(load.port))
  const statuses: Record<string, number> = {}
  const times: number[] = []
  const began = performance.now()
  let turn = 0
  const run = async (connection: ReturnType<typeof openConnection>) => {
    for (;;) {
      const due = dueAt(load, began, turn)
      if (due === undefined) return
      const request = load.requests[turn % load.requests.length] ?? ''
      turn += 1
      const early = due - performance.now()
      if (early > 0) await new Promise((wake) => setTimeout(wake, early))
      const { status } = await connection.ask(request)
      statuses[status] = (statuses[status] ?? 0) + 1
      times.push(performance.now() - due)
    }
  }
  try {
    await Promise.all(connections.map(run))
  } finally {
    for (const connection of connections) connection.close()
  }
  return {
    perSecond: (times.length * 1000) / (performance.now() - began),
    answers: times.length,
    statuses,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    longestMs: times.reduce((longest, ms) => Math.max(longest, ms), 0),
  }
}
