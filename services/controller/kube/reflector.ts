import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import { type BackOff, backOffMs } from '#shared/policy/back-off.ts'
import { type KubeApi, listPages, type Selection, type WatchEvent } from '#shared/kube/client.ts'
import { type Clock, pause } from './clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { type Change, isNewer, ObjectCache } from './object-cache.ts'
import type { Collection, KubeObject } from '#shared/kube/resource.ts'

/** Why a watch is over: the server closed it, the version was too old, nothing was heard for too long, or it broke. */
export type WatchEnd = 'closed' | 'gone' | 'silent' | 'failed'

/** What a reflector tells while it works. */
export type ReflectorEvents = {
  /** Everything was read anew. */
  readonly listed: (objects: number) => void
  /** A list or watch is over; the next try is made after `waitMs`. */
  readonly ended: (end: WatchEnd, waitMs: number, error?: AppError) => void
}

/** What a reflector works with; `random` answers from 0 to below 1. */
type ReflectorDeps<T> = {
  readonly api: Pick<KubeApi, 'list' | 'watch'>
  readonly clock: Clock
  readonly random: () => number
  /** Makes of each object what is kept of it, with name, namespace, uid and version; without it everything is. */
  readonly trim?: (object: KubeObject) => T
  /** Hears of every change, after it can be read. */
  readonly changed: (change: Change<T>) => void
  readonly events: ReflectorEvents
}

/** What is reflected, and after how long without an event or bookmark a watch counts as dead; 90 s by default. */
export type Reflected = Collection & Selection & { readonly inactivityMs?: number; readonly backOff?: BackOff }

/** The server sends a bookmark about each minute. */
const inactivityMs = 90_000
const backOff: BackOff = { firstMs: 500, lastMs: 30_000 }
const watchSeconds = { least: 240, most: 480 }
/** A watch that stood this long was well, though a quiet kind of object let it hear nothing. */
const stoodMs = 10_000
const retryAfterMsMax = 120_000

/** Whether there was nobody to connect to. */
const wasRefused = (error: AppError | undefined): boolean =>
  error?.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ECONNREFUSED'

/**
 * Holds a copy of all objects of a kind: reads them, follows their changes, and reads them again where it must. It never
 * gives up; while the API server is away the copy is as old as `downMs` says.
 */
export class Reflector<T extends KubeObject> implements AsyncDisposable {
  readonly #deps: ReflectorDeps<T>
  readonly #of: Reflected
  readonly #cache = new ObjectCache<T>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  /** The version to go on from; undefined where everything has to be read anew. */
  #version: string | undefined
  #failures = 0
  #hasSynced = false
  /** Since when no watch stands; undefined while one does. */
  #downSinceMs: number | undefined

  /** Begins at once. */
  constructor(deps: ReflectorDeps<T>, of: Reflected) {
    this.#deps = deps
    this.#of = of
    this.#downSinceMs = deps.clock.nowMs()
    this.#running = this.#run()
  }

  /** Whether everything was read at least once. Until then an empty copy says nothing. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Milliseconds for which no watch has stood, those before the first included; 0 while one stands. */
  downMs(): number {
    return this.#downSinceMs === undefined ? 0 : this.#deps.clock.nowMs() - this.#downSinceMs
  }

  /** The object with this key (`namespace/name`), as last heard. */
  get(key: string): T | undefined {
    return this.#cache.get(key)
  }

  /** All objects, as last heard. */
  all(): readonly T[] {
    return this.#cache.all()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run() {
    const { clock, events } = this.#deps
    while (!this.#stop.signal.aborted) {
      const { end, error } = await this.#listAndWatch()
      if (this.#stop.signal.aborted) return
      // What was missed in silence is not known to be repeated: after etcd was set back, a watch from a version that
      // is yet to come stays silent. It is set back while no server runs.
      if (end === 'gone' || end === 'silent' || wasRefused(error)) this.#version = undefined
      const waitMs = this.#nextWaitMs(error)
      events.ended(end, waitMs, error)
      await pause(clock, waitMs, this.#stop.signal)
    }
  }

  #nextWaitMs(error: AppError | undefined): number {
    // Those that failed together do not come back together.
    const { firstMs, lastMs } = this.#of.backOff ?? backOff
    const waitMs = backOffMs({ firstMs, lastMs: lastMs / 2 }, this.#failures) * (1 + this.#deps.random())
    this.#failures += 1
    return Math.max(waitMs, Math.min((error?.retryAfterSeconds ?? 0) * 1000, retryAfterMsMax))
  }

  async #listAndWatch(): Promise<{ end: WatchEnd; error?: AppError }> {
    const silence = new AbortController()
    try {
      this.#version ??= await this.#list()
      await this.#watch(this.#version, silence)
      return { end: silence.signal.aborted ? 'silent' : 'closed' }
    } catch (thrown) {
      if (silence.signal.aborted) return { end: 'silent' }
      return { end: outcomeOf(thrown) === 'gone' ? 'gone' : 'failed', error: toAppError(thrown) }
    }
  }

  /** Reads everything, page by page, then puts it in place of the copy at once. */
  async #list(): Promise<string> {
    const items: T[] = []
    let version = ''
    for await (const page of listPages<T>(this.#deps.api, this.#of, () => this.#stop.signal)) {
      items.push(...page.items.map((object) => this.#trimmed(object)))
      version = page.resourceVersion
    }
    this.#listed(items)
    return version
  }

  #listed(items: readonly T[]) {
    const changes = this.#cache.replace(items)
    this.#hasSynced = true
    this.#deps.events.listed(items.length)
    for (const change of changes) this.#deps.changed(change)
  }

  async #watch(resourceVersion: string, silence: AbortController) {
    const { api, clock, random } = this.#deps
    const spread = watchSeconds.most - watchSeconds.least
    const timeoutSeconds = watchSeconds.least + Math.floor(random() * (spread + 1))
    const { labelSelector, fieldSelector } = this.#of
    const query = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds }
    const signal = AbortSignal.any([this.#stop.signal, silence.signal])

    const startedAtMs = clock.nowMs()
    const watchdog = () => clock.after(this.#of.inactivityMs ?? inactivityMs, () => silence.abort())
    let timer = watchdog()
    try {
      const opened = () => {
        this.#downSinceMs = undefined
      }
      for await (const event of api.watch<T>(this.#of, query, signal, opened)) {
        timer[Symbol.dispose]()
        timer = watchdog()
        this.#heard(event)
      }
    } finally {
      timer[Symbol.dispose]()
      this.#downSinceMs ??= clock.nowMs()
      if (clock.nowMs() - startedAtMs >= stoodMs) this.#failures = 0
    }
  }

  #heard(event: WatchEvent<T>) {
    this.#failures = 0
    const change =
      event.type === 'BOOKMARK'
        ? undefined
        : this.#cache.apply({ type: event.type, object: this.#trimmed(event.object) })
    const version = event.object.metadata?.resourceVersion
    if (version !== undefined && isNewer(version, this.#version ?? '0')) this.#version = version
    if (change) this.#deps.changed(change)
  }

  #trimmed(object: T): T {
    return this.#deps.trim ? this.#deps.trim(object) : object
  }
}
