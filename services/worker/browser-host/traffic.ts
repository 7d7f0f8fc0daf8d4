import { AppError } from '#shared/errors/app-error.ts'
import type { Refusal, TargetRefusal } from '#shared/net/refusal.ts'
import type { Fault, ConnectionReview } from './protocol.ts'

/** A fault of the service, and its detail for logs. */
export type Interruption = { readonly by: Exclude<Fault, 'browser'>; readonly detail: string }

/** The connections of one capture: why egress refused some, and whether the way there failed. */
export type Traffic = Disposable & {
  /** Why egress refused this host the last time, if it did. `host` as URLs write it, without a port. */
  readonly refusalOf: (host: string) => TargetRefusal | undefined
  /** Whether a fault of ours failed a connection of the capture: what it shows from here on is not the page. */
  readonly interruption: () => Interruption | undefined
  /** Rejects with `RENDER_ERROR` once more came in than one capture may load, with `SERVICE_UNAVAILABLE` once it is interrupted; never resolves. */
  readonly cutShort: Promise<never>
}

/** A traffic and what happens to it. */
export type OpenTraffic = Omit<Traffic, typeof Symbol.dispose> & {
  /** Notes why egress refused a host, or that egress itself has a fault. */
  readonly refuse: (host: string, refusal: Refusal) => void
  /** Notes that more came in than one capture may load. */
  readonly tooMuch: (bytesMax: number) => void
}

/** Opens the account of one capture. */
export const openTraffic = (): OpenTraffic => {
  const refused = new Map<string, TargetRefusal>()
  const { promise: cutShort, reject } = Promise.withResolvers<never>()
  cutShort.catch(() => {})
  let interruption: Interruption | undefined
  return {
    refuse: (host, refusal) => {
      if (refusal === 'overloaded') interruption ??= { by: 'overload', detail: 'egress has no room for connections' }
      else if (refusal === 'unavailable')
        interruption = { by: 'egress', detail: 'egress has a fault, or does not answer' }
      else {
        refused.set(host, refusal)
        return
      }
      reject(new AppError('SERVICE_UNAVAILABLE', { message: interruption.detail }))
    },
    tooMuch: (bytesMax) => {
      const publicMessage = `The page loads more than the ${bytesMax} bytes that one capture may load.`
      reject(new AppError('RENDER_ERROR', { publicMessage }))
    },
    refusalOf: (host) => refused.get(host),
    interruption: () => interruption,
    cutShort,
  }
}

/** What one capture blocks: no connection is made to such a host, and it is no refusal of the target. Hosts as URLs write them. */
export type Blocks = (host: string) => boolean

/** Reviews the connections that the supervisor is to make for the browser, by what the running capture blocks. */
export type ConnectionReviewer = {
  /** Lets the browser connect until the traffic is disposed. Between captures no connection is allowed. */
  readonly begin: (of: { readonly blocks?: Blocks | undefined }) => Traffic
  /** Whether the supervisor may make a connection; notes why egress has refused it. */
  readonly review: (connection: Pick<ConnectionReview, 'host' | 'refusal'>) => boolean
  /** Fails the capture: it has loaded more than it may. */
  readonly tooMuch: (bytesMax: number) => void
}

/** Begins without a capture. */
export const createConnectionReviewer = (): ConnectionReviewer => {
  let active: { readonly traffic: OpenTraffic; readonly blocks: Blocks } | undefined
  return {
    begin: ({ blocks = () => false }) => {
      const traffic = openTraffic()
      const own = { traffic, blocks }
      active = own
      return {
        ...traffic,
        [Symbol.dispose]: () => {
          if (active === own) active = undefined
        },
      }
    },
    review: ({ host, refusal }) => {
      if (refusal) active?.traffic.refuse(host, refusal)
      return active !== undefined && !active.blocks(host)
    },
    tooMuch: (bytesMax) => active?.traffic.tooMuch(bytesMax),
  }
}
