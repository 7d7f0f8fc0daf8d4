import type { ConnectionReview } from './protocol.ts'
import { openTraffic, type OpenTraffic, type Traffic } from './traffic.ts'

/** What one capture blocks: no connection is made to such a host, and it is no refusal of the target. Hosts as URLs write them. */
export type Blocks = (host: string) => boolean

/** The host's part of the browser's proxy, whose connections the supervisor serves: what is allowed, and what is known of them. */
export type Forwarder = {
  /** Lets the browser connect until the traffic is disposed. Between captures no connection is allowed. */
  readonly begin: (of: { readonly blocks?: Blocks | undefined }) => Traffic
  /** Whether the supervisor may make a connection; notes why egress has refused it. */
  readonly review: (connection: Pick<ConnectionReview, 'host' | 'refusal'>) => boolean
  /** Takes notice that the capture has loaded more than it may. */
  readonly tooMuch: (bytesMax: number) => void
}

/** Begins without a capture. */
export const createForwarder = (): Forwarder => {
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
