import { AppError } from '#shared/errors/app-error.ts'
import type { Refusal, TargetRefusal } from '#shared/net/refusal.ts'
import type { Fault, ConnectionReview } from '#worker/protocol/protocol.ts'

/** A fault of the service, and its detail for logs. */
export type Interruption = { readonly by: Exclude<Fault, 'browser' | 'worker'>; readonly detail: string }

/** Tracks the connections of one capture: why egress refused some, and whether egress itself failed. */
export const openTraffic = () => {
  const refused = new Map<string, TargetRefusal>()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {})
  let interruption: Interruption | undefined
  return {
    /** Records why egress refused a host, or that egress itself failed. */
    recordRefusal: (host: string, refusal: Refusal): void => {
      if (refusal === 'overloaded') interruption ??= { by: 'overload', detail: 'egress has no room for connections' }
      else if (refusal === 'unavailable')
        interruption = { by: 'egress', detail: 'egress has a fault, or does not respond' }
      else {
        refused.set(host, refusal)
        return
      }
      reject(new AppError('SERVICE_UNAVAILABLE', { message: interruption.detail }))
    },
    /** Fails the capture: it has loaded more than `bytesMax`. */
    recordByteLimit: (bytesMax: number): void => {
      const publicMessage = `The page loads more than the ${bytesMax} bytes that one capture may load.`
      reject(new AppError('RENDER_ERROR', { publicMessage, blame: 'target' }))
    },
    /** The last reason why egress refused this host, if it did. `host` as in URLs, without a port. */
    findRefusal: (host: string) => refused.get(host),
    /** The service fault that failed a connection of the capture: what it shows from then on is not the page. */
    interruption: () => interruption,
    /** Rejects with `RENDER_ERROR` above the byte limit of a capture, with `SERVICE_UNAVAILABLE` on a service fault; never resolves. */
    failed,
  }
}

type OpenTraffic = ReturnType<typeof openTraffic>

/** Read access of a capture to the state of its connections. */
export type Traffic = Disposable & Readonly<Pick<OpenTraffic, 'findRefusal' | 'interruption' | 'failed'>>

/** Whether the capture blocks a host: no connection is made, and it does not count as refused by egress. Hosts as in URLs. */
export type Blocks = (host: string) => boolean

/** Reviews the connections that the browser requests, by what the running capture blocks. Initially no capture runs. */
export const createConnectionReviewer = () => {
  let active: { readonly traffic: OpenTraffic; readonly blocks: Blocks } | undefined
  return {
    /** Allows connections until the traffic is disposed. Between captures none is allowed. */
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
    /** Returns whether the supervisor may make a connection; records why egress refused it. */
    review: ({ host, refusal }: Pick<ConnectionReview, 'host' | 'refusal'>): boolean => {
      if (refusal) active?.traffic.recordRefusal(host, refusal)
      return active !== undefined && !active.blocks(host)
    },
    /** Fails the running capture: it has loaded more than `bytesMax`. */
    recordByteLimit: (bytesMax: number) => active?.traffic.recordByteLimit(bytesMax),
  }
}

/** See `createConnectionReviewer`. */
export type ConnectionReviewer = Readonly<ReturnType<typeof createConnectionReviewer>>
