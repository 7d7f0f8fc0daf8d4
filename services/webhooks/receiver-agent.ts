import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import { connectReceiver, type EgressRoute } from './connect-receiver.ts'
import { NoConnection } from './outcome.ts'

/** Options of a request through the agent; the account is named because accounts never share connections. */
export type ReceiverRequestOptions = ClientRequestArgs & { readonly accountId: string }

/** A connection may be reused for this long; then the receiver's address is resolved and checked again. */
const defaultReuseMs = 30_000
/** Most idle connections of one process, and of one account and host. */
const idleMax = 256
const idlePerReceiver = 32

const options: AgentOptions = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: idlePerReceiver }

/** Connections to receivers, each through the egress filter, reused for the same account and host. */
export class ReceiverAgent extends Agent implements Disposable {
  readonly #route: EgressRoute
  readonly #reuseMs: number
  readonly #expired = new WeakSet<Duplex>()

  constructor(route: EgressRoute, reuseMs = defaultReuseMs) {
    super(options)
    this.#route = route
    this.#reuseMs = reuseMs
  }

  override getName(to?: ClientRequestArgs): string {
    return `${(to as ReceiverRequestOptions).accountId} ${to?.host}:${to?.port}`
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    void this.#connect(host ?? '', Number(port), callback ?? (() => {}))
  }

  override keepSocketAlive(socket: Duplex): boolean {
    super.keepSocketAlive(socket)
    const idle = Object.values(this.freeSockets).reduce((sum, each) => sum + (each?.length ?? 0), 0)
    return !this.#expired.has(socket) && idle < idleMax
  }

  [Symbol.dispose](): void {
    this.destroy()
  }

  async #connect(host: string, port: number, callback: (error: Error | null, socket: Duplex) => void): Promise<void> {
    try {
      const socket = await connectReceiver(this.#route, { host, port })
      this.#expireAfterReuseLimit(socket)
      callback(null, socket)
    } catch (error) {
      // With an error the agent expects no socket, whatever its type says.
      callback(error instanceof Error ? error : new NoConnection('not_tried', error), undefined as never)
    }
  }

  /** Once a connection is old, it is closed if idle, and not reused otherwise. */
  #expireAfterReuseLimit(socket: Duplex): void {
    const timer = setTimeout(() => {
      this.#expired.add(socket)
      const isFree = Object.values(this.freeSockets).some((sockets) => sockets?.some((each) => each === socket))
      if (isFree) socket.destroy()
    }, this.#reuseMs)
    socket.once('close', () => clearTimeout(timer))
  }
}
