import type { Socket } from 'node:net'
import { clientAt, parseHop } from '#shared/policy/client.ts'
import { clientHolders, Shares } from '#shared/policy/shares.ts'

/** The same of a TCP connection and of the TLS within it. */
const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

/** Connections that sent no valid token yet: of one address a quarter, so that nobody without a token takes all. */
export class Unidentified {
  readonly #places: Shares
  readonly #held = new Map<string, Disposable>()

  constructor(max: number) {
    this.#places = new Shares(max)
  }

  /** Whether there is a place for the connection. */
  add(client: Socket): boolean {
    const place = this.#places.take(1, clientHolders(clientAt(parseHop(client.remoteAddress ?? ''))))
    if (typeof place === 'string') return false
    const name = nameOf(client)
    this.#held.set(name, place)
    client.once('close', () => {
      place[Symbol.dispose]()
      this.#held.delete(name)
    })
    return true
  }

  /** The client has sent a valid token. */
  remove(client: Socket): void {
    this.#held.get(nameOf(client))?.[Symbol.dispose]()
  }
}
