import { AppError } from '#shared/errors/app-error.ts'
import type { Refusal, TargetRefusal } from '#shared/net/refusal.ts'
import type { Fault, ConnectionReview } from './protocol.ts'

/** A fault of the service, and its detail for logs. */
export type Interruption = { readonly by: Exclude<Fault, 'browser'>; readonly detail: string }

/** Opens the account of the connections of one capture: why egress refused some, and whether the way there failed. */
export const openTraffic = () => {
  const refused = new Map<string, TargetRefusal>()
  const { promise: cutShort, reject } = Promise.withResolvers<never>()
  cutShort.catch(() => {})
  let interruption: Interruption | undefined
  return {
    /** Notes why egress refused a host, or that egress itself has a fault. */
    refuse: (host: string, refusal: Refusal): void => {
      if (refusal === 'overloaded') interruption ??= { by: 'overload', detail: 'egress has no room for connections' }
      else if (refusal === 'unavailable')
        interruption = { by: 'egress', detail: 'egress has a fault, or does not answer' }
      else {
        refused.set(host, refusal)
        return
      }
      reject(new AppError('SERVICE_UNAVAILABLE', { message: interruption.detail }))
    },
    /** Notes that more came in than one capture may load. */
    tooMuch: (bytesMax: number): void => {
      const publicMessage = `The page loads more than the ${bytesMax} bytes that one capture may load.`
      reject(new AppError('RENDER_ERROR', { publicMessage }))
    },
    /** Why egress refused this host the last time, if it did. `host` as URLs write it, without a port. */
    refusalOf: (host: string) => refused.get(host),
    /** Whether a fault of ours failed a connection of the capture: what it shows from here on is not the page. */
    interruption: () => interruption,
    /** Rejects with `RENDER_ERROR` once more came in than one capture may load, with `SERVICE_UNAVAILABLE` once it is interrupted; never resolves. */
    cutShort,
  }
}

type OpenTraffic = ReturnType<typeof openTraffic>

/** What a capture sees of its connections. */
export type Traffic = Disposable & Readonly<Pick<OpenTraffic, 'refusalOf' | 'interruption' | 'cutShort'>>

/** What one capture blocks: no connection is made to such a host, and it is no refusal of the target. Hosts as URLs write them. */
export type Blocks = (host: string) => boolean

/** Reviews the connections that the supervisor is to make for the browser, by what the running capture blocks; none is running yet. */
export const createConnectionReviewer = () => {
  let active: { readonly traffic: OpenTraffic; readonly blocks: Blocks } | undefined
  return {
    /** Lets the browser connect until the traffic is disposed. Between captures no connection is allowed. */
    begin: ({ blocks = () => false }: { readonly blocks?: Blocks }): Traffic => {
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
    /** Whether the supervisor may make a connection; notes why egress has refused it. */
    review: ({ host, refusal }: Pick<ConnectionReview, 'host' | 'refusal'>): boolean => {
      if (refusal) active?.traffic.refuse(host, refusal)
      return active !== undefined && !active.blocks(host)
    },
    /** Fails the capture: it has loaded more than it may. */
    tooMuch: (bytesMax: number) => active?.traffic.tooMuch(bytesMax),
  }
}

/** See `createConnectionReviewer`. */
export type ConnectionReviewer = Readonly<ReturnType<typeof createConnectionReviewer>>
