import { once } from 'node:events'
import type { Socket } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import { startSignalDeadline } from '#shared/config/stalls.ts'
import { parseAddress } from '#shared/policy/cidr.ts'

/** Starts a connection to an address, like `net.connect`, which then resolves no name. */
export type Connect = (to: { host: string; port: number }) => Socket

/** How addresses are dialled: all of them together within `connectMs`. */
export type DialOptions = {
  readonly connect: Connect
  readonly connectMs: number
  /** Starts a signal that aborts after `waitMs`; by default `startSignalDeadline`. */
  readonly deadline?: typeof startSignalDeadline
}

/** Most addresses of a name that are tried. */
const addressesMax = 4

/** The families in turns, that of the first one first, since either may lead nowhere from this machine, whatever it is asked to resolve. */
const inTurns = (addresses: readonly string[]): string[] => {
  const isFirstIpv6 = addresses[0]?.includes(':') === true
  const families = [isFirstIpv6, !isFirstIpv6].map((isIpv6) =>
    addresses.filter((each) => each.includes(':') === isIpv6),
  )
  return addresses.flatMap((_, nth) => families.flatMap((family) => family[nth] ?? []))
}

const isPeer = (socket: Socket, ip: string): boolean =>
  parseAddress(socket.remoteAddress ?? '')?.toString() === parseAddress(ip)?.toString()

/** This machine lacks file descriptors, local ports or memory: any other address would fail too. */
const localErrors = ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM', 'EAGAIN']

const errorCode = ({ name, code = '' }: NodeJS.ErrnoException) => {
  if (name === 'AbortError') return 'TIMEOUT'
  return localErrors.includes(code) ? 'SERVICE_UNAVAILABLE' : 'CONNECTION_FAILED'
}

const dialOne = async (
  connect: Connect,
  to: { host: string; port: number },
  deadline: ReturnType<typeof startSignalDeadline>,
): Promise<Socket> => {
  using late = deadline
  const socket = connect(to)
  // Users of the socket listen for 'close'; without a listener an 'error' would end the process.
  socket.on('error', () => {})
  try {
    await once(socket, 'connect', late)
  } catch (cause) {
    socket.destroy()
    throw new AppError(errorCode(cause as NodeJS.ErrnoException), { message: 'no connection to the address', cause })
  }
  if (isPeer(socket, to.host)) return socket
  socket.destroy()
  throw new AppError('BLOCKED', { message: 'the peer is not the address that was judged' })
}

/** Whether another address of the name may succeed. */
const isAddressError = (thrown: unknown): thrown is AppError =>
  thrown instanceof AppError && (thrown.code === 'TIMEOUT' || thrown.code === 'CONNECTION_FAILED')

/**
 * Returns the socket of the first address for which `attempt` succeeds, each tried for its share of `connectMs`. Throws at once
 * an error that any other address would have too, otherwise the last address's `TIMEOUT` or `CONNECTION_FAILED`.
 */
export const tryEach = async (
  addresses: readonly string[],
  connectMs: number,
  attempt: (host: string, shareMs: number) => Promise<Socket>,
): Promise<Socket> => {
  const tried = inTurns(addresses).slice(0, addressesMax)
  let failure: AppError | undefined
  for (const host of tried) {
    try {
      return await attempt(host, Math.floor(connectMs / tried.length))
    } catch (thrown) {
      if (!isAddressError(thrown)) throw thrown
      failure = thrown
    }
  }
  throw failure ?? new AppError('CONNECTION_FAILED', { message: 'no address to connect to' })
}

/**
 * Connects to one of the checked addresses as `tryEach` does, and checks that the peer is that address. Throws `BLOCKED` for a
 * different peer, `SERVICE_UNAVAILABLE` if this machine can open no connection.
 */
export const dial = (
  { connect, connectMs, deadline = startSignalDeadline }: DialOptions,
  addresses: readonly string[],
  port: number,
): Promise<Socket> =>
  tryEach(addresses, connectMs, (host, shareMs) => dialOne(connect, { host, port }, deadline(shareMs)))
