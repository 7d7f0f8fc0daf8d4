import { once } from 'node:events'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { parseAddress } from '#shared/policy/cidr.ts'

/** Begins a connection to an address; as `net.connect`, which resolves no name for one. */
export type Connect = (to: { host: string; port: number }) => Socket

/** How addresses are dialled: all of them together within `connectMs`. */
export type Dialling = {
  readonly connect: Connect
  readonly connectMs: number
  /** Aborts after so many milliseconds; a timer without it. */
  readonly deadline?: (waitMs: number) => AbortSignal
}

/** Of a name with more addresses only so many are tried. */
const addressesMax = 4

const isPeer = (socket: Socket, ip: string): boolean =>
  parseAddress(socket.remoteAddress ?? '')?.toString() === parseAddress(ip)?.toString()

/** This machine lacks file descriptors, local ports or memory: no other address would fare better. */
const ours = ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM', 'EAGAIN']

const codeOf = ({ name, code = '' }: NodeJS.ErrnoException) => {
  if (name === 'AbortError') return 'TIMEOUT'
  return ours.includes(code) ? 'SERVICE_UNAVAILABLE' : 'CONNECTION_FAILED'
}

const dialOne = async (connect: Connect, to: { host: string; port: number }, late: AbortSignal): Promise<Socket> => {
  const socket = connect(to)
  // Users of the socket get its end by 'close'; without a listener an 'error' would end the process.
  socket.on('error', () => {})
  try {
    await once(socket, 'connect', { signal: late })
  } catch (cause) {
    socket.destroy()
    throw new AppError(codeOf(cause as NodeJS.ErrnoException), { message: 'no connection to the address', cause })
  }
  if (isPeer(socket, to.host)) return socket
  socket.destroy()
  throw new AppError('BLOCKED', { message: 'the peer is not the address that was judged' })
}

/** Whether another address of the name may fare better. */
const isOfAddress = (thrown: unknown): thrown is AppError =>
  thrown instanceof AppError && (thrown.code === 'TIMEOUT' || thrown.code === 'CONNECTION_FAILED')

/**
 * Resolves to what `attempt` makes of the first address that takes it, each tried for its share of `connectMs`. Throws what
 * no other address would fare better with, else the last address's `TIMEOUT` or `CONNECTION_FAILED`.
 */
export const tryEach = async (
  addresses: readonly string[],
  connectMs: number,
  attempt: (host: string, shareMs: number) => Promise<Socket>,
): Promise<Socket> => {
  const tried = addresses.slice(0, addressesMax)
  let failure: AppError | undefined
  for (const host of tried) {
    try {
      return await attempt(host, Math.floor(connectMs / tried.length))
    } catch (thrown) {
      if (!isOfAddress(thrown)) throw thrown
      failure = thrown
    }
  }
  throw failure ?? new AppError('CONNECTION_FAILED', { message: 'no address to connect to' })
}

/**
 * Connects to one of the judged addresses as `tryEach` does, and makes sure that the peer is that address. Throws `BLOCKED`
 * for a foreign peer, `SERVICE_UNAVAILABLE` where this machine can open no connection.
 */
export const dial = (
  { connect, connectMs, deadline = (waitMs) => AbortSignal.timeout(waitMs) }: Dialling,
  addresses: readonly string[],
  port: number,
): Promise<Socket> =>
  tryEach(addresses, connectMs, (host, shareMs) => dialOne(connect, { host, port }, deadline(shareMs)))
