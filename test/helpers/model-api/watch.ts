import type { Clock } from '#controller/kube/clock.ts'
import type { Kind } from './kind.ts'
import { eventFor, type Match } from './reads.ts'
import type { Stored } from './object.ts'
import type { ModelStore, StoreEvent } from './store.ts'

/** The network between a watch and its watcher. */
export type Wire = {
  readonly clock: Clock
  /** Latency of a line. */
  readonly delayMs: () => number
  /** Delivers to the watcher's process: now, or on resume if the process is stopped. */
  readonly deliver: (run: () => void) => void
}

type Watched = { readonly kind: Kind; readonly match: Match; readonly version: number; readonly timeoutSeconds: number }

const bookmarkMs = 60_000
const texts = new WeakMap<Stored, string>()

const textOf = (object: Stored): string => {
  const text = texts.get(object) ?? JSON.stringify(object)
  texts.set(object, text)
  return text
}

const lineOf = (type: string, text: string): Buffer => Buffer.from(`{"type":"${type}","object":${text}}\n`)

const expired = lineOf('ERROR', '{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}')

/** One watch on the store: lines in order, a bookmark each minute, and an end. */
export class ModelWatch {
  readonly #wire: Wire
  readonly #watched: Watched
  readonly #stack = new DisposableStack()
  readonly #arrived: Buffer[] = []
  #isHeld = false
  #held: Buffer[] = []
  #wakeup = Promise.withResolvers<void>()
  #end: 'closed' | Error | undefined
  #lastDueMs = 0

  constructor(store: ModelStore, wire: Wire, watched: Watched) {
    this.#wire = wire
    this.#watched = watched
    const past = store.since(watched.kind.resource, watched.version)
    if (!past) {
      this.#send(expired)
      this.#stack.use(wire.clock.after(0, () => this.close()))
      return
    }
    for (const event of past) this.#follow(event)
    this.#stack.use(store.listen((resource, event) => resource === watched.kind.resource && this.#follow(event)))
    this.#stack.use(wire.clock.after(watched.timeoutSeconds * 1000, () => this.close()))
    this.#bookmark(store)
  }

  /** The lines that the watcher reads: ends when the server closes the watch, throws if the connection breaks. */
  async *lines(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        yield* this.#arrived.splice(0)
        if (this.#end instanceof Error) throw this.#end
        if (this.#end) return
        await this.#wakeup.promise
        this.#wakeup = Promise.withResolvers()
      }
    } finally {
      this.close()
    }
  }

  /** Holds lines back as with packet loss, or releases them. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (isHeld) return
    if (this.#stack.disposed) this.close(new Error('read ECONNRESET'))
    for (const line of this.#held.splice(0)) this.#send(line)
  }

  /** Ends the watch as the server does, or with an error as a broken connection does. */
  close(error?: Error): void {
    if (this.#end) return
    this.#stack.dispose()
    if (this.#isHeld) return
    this.#wire.clock.after(this.#dueInMs(), () => this.#arrive(() => (this.#end = error ?? 'closed')))
  }

  /** Ends the watch on the watcher's side. */
  abort(): void {
    this.#stack.dispose()
    this.#end ??= new Error('aborted')
    this.#wakeup.resolve()
  }

  #follow(event: StoreEvent) {
    // As on the real server, a watch from a future version sends nothing until that version exists.
    if (event.version <= this.#watched.version) return
    const visible = eventFor(this.#watched.match, event)
    if (visible) this.#send(lineOf(visible.type, textOf(visible.object)))
  }

  #bookmark(store: ModelStore) {
    const { apiVersion, kind } = this.#watched.kind
    const timer = this.#wire.clock.after(bookmarkMs, () => {
      const object = { kind, apiVersion, metadata: { resourceVersion: String(store.version) } }
      if (store.version > this.#watched.version) this.#send(lineOf('BOOKMARK', JSON.stringify(object)))
      this.#bookmark(store)
    })
    if (this.#stack.disposed) timer[Symbol.dispose]()
    else this.#stack.use(timer)
  }

  #send(line: Buffer) {
    if (this.#isHeld) this.#held.push(line)
    else this.#wire.clock.after(this.#dueInMs(), () => this.#arrive(() => this.#arrived.push(line)))
  }

  #arrive(take: () => void) {
    this.#wire.deliver(() => {
      take()
      this.#wakeup.resolve()
    })
  }

  /** Keeps lines in order: none arrives before an earlier one. */
  #dueInMs(): number {
    const nowMs = this.#wire.clock.nowMs()
    this.#lastDueMs = Math.max(this.#lastDueMs, nowMs + this.#wire.delayMs())
    return this.#lastDueMs - nowMs
  }
}
