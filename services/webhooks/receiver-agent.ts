import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import { connectReceiver, type Way } from './connect-receiver.ts'
import { NoConnection } from './outcome.ts'

/** What a request through the agent names beside the usual: connections of different accounts are never mixed. */
export type ToReceiver = ClientRequestArgs & { readonly accountId: string }

/** A connection may be used again for this long; then the receiver's address is looked up and judged anew. */
const usualReuseMs = 30_000
/** Most connections of one process that wait to be used again, and those of one account and host. */
const idleMax = 256
const idlePerReceiver = 32

const options: AgentOptions = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: idlePerReceiver }

/** Connections to receivers, each through the egress filter, kept for a while for the same account and host. */
export class ReceiverAgent extends Agent implements Disposable {
  readonly #way: Way
  readonly #reuseMs: number
  readonly #old = new WeakSet<Duplex>()

  constructor(way: Way, reuseMs = usualReuseMs) {
    super(options)
    this.#way = way
    this.#reuseMs = reuseMs
  }

  override getName(to?: ClientRequestArgs): string {
    return `${(to as ToReceiver).accountId} ${to?.host}:${to?.port}`
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    made?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    void this.#connect(host ?? '', Number(port), made ?? (() => {}))
  }

  override keepSocketAlive(socket: Duplex): boolean {
    super.keepSocketAlive(socket)
    const idle = Object.values(this.freeSockets).reduce((sum, each) => sum + (each?.length ?? 0), 0)
    return !this.#old.has(socket) && idle < idleMax
  }

  [Symbol.dispose](): void {
    this.destroy()
  }

  async #connect(host: string, port: number, made: (error: Error | null, socket: Duplex) => void): Promise<void> {
    try {
      const socket = await connectReceiver(this.#way, { host, port })
      this.#boundAge(socket)
      made(null, socket)
    } catch (error) {
      // With an error the agent expects no socket, whatever its type says.
      made(error instanceof Error ? error : new NoConnection('not_tried', error), undefined as never)
    }
  }

  /** Once it is old it is closed where nobody uses it, and not kept after its use. */
  #boundAge(socket: Duplex): void {
    const timer = setTimeout(() => {
      this.#old.add(socket)
      const isFree = Object.values(this.freeSockets).some((sockets) => sockets?.some((each) => each === socket))
      if (isFree) socket.destroy()
    }, this.#reuseMs)
    socket.once('close', () => clearTimeout(timer))
  }
}
