import { type AppError, toAppError } from '#shared/errors/app-error.ts'
import { type BackOff, backOffMs } from '#shared/policy/back-off.ts'
import { type KubeApi, listPages, type Selection, type WatchEvent } from '#shared/kube/client.ts'
import { type Clock, pause } from './clock.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { type Change, isNewer, ObjectCache } from './object-cache.ts'
import type { Collection, KubeObject } from '#shared/kube/resource.ts'

/** Why a watch ended: the server closed it, its version was too old, no event for too long, or an error. */
export type WatchEnd = 'closed' | 'gone' | 'silent' | 'failed'

/** Callbacks of a reflector. */
export type ReflectorEvents = {
  /** All objects were listed. */
  readonly listed: (objects: number) => void
  /** A list or watch ended; it is retried after `waitMs`. */
  readonly ended: (end: WatchEnd, waitMs: number, error?: AppError) => void
}

/** `random` returns a number from 0 to below 1. */
type ReflectorDeps<T> = {
  readonly api: Pick<KubeApi, 'list' | 'watch'>
  readonly clock: Clock
  readonly random: () => number
  /** Reduces each object to what is cached, with name, namespace, uid and version; by default everything is cached. */
  readonly trim?: (object: KubeObject) => T
  /** Called with every change, after the cache contains it. */
  readonly changed: (change: Change<T>) => void
  readonly events: ReflectorEvents
}

/** The objects to reflect; a watch without an event or bookmark for `inactivityMs` counts as dead, by default 90 s. */
export type ReflectorOptions = Collection & Selection & { readonly inactivityMs?: number; readonly backOff?: BackOff }

/** The server sends a bookmark about each minute. */
const inactivityMs = 90_000
const backOff: BackOff = { firstMs: 500, lastMs: 30_000 }
const watchSeconds = { least: 240, most: 480 }
/** A watch that was open this long counts as successful, even without an event. */
const stableMs = 10_000
const retryAfterMsMax = 120_000

const wasRefused = (error: AppError | undefined): boolean =>
  error?.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ECONNREFUSED'

/**
 * Keeps a copy of all objects of a kind: lists them, watches for changes, and lists them again if necessary. It retries
 * without limit; while the API server is unreachable the copy may be `downMs` old.
 */
export class Reflector<T extends KubeObject> implements AsyncDisposable {
  readonly #deps: ReflectorDeps<T>
  readonly #options: ReflectorOptions
  readonly #cache = new ObjectCache<T>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  /** The version to resume from; undefined if everything has to be listed again. */
  #version: string | undefined
  #failures = 0
  #hasSynced = false
  /** Since when no watch is open; undefined while one is. */
  #downSinceMs: number | undefined

  /** Starts at once. */
  constructor(deps: ReflectorDeps<T>, options: ReflectorOptions) {
    this.#deps = deps
    this.#options = options
    this.#downSinceMs = deps.clock.nowMs()
    this.#running = this.#run()
  }

  /** Whether everything was listed at least once. Until then an empty copy does not mean that there are no objects. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Milliseconds without an open watch, including those before the first; 0 while one is open. */
  downMs(): number {
    return this.#downSinceMs === undefined ? 0 : this.#deps.clock.nowMs() - this.#downSinceMs
  }

  /** The object with this key (`namespace/name`), as last observed. */
  get(key: string): T | undefined {
    return this.#cache.get(key)
  }

  /** All objects, as last observed. */
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
      // Only a list recovers changes that a silent watch missed: after etcd was restored from a backup, a watch from a
      // version in the future stays silent. No server runs during a restore, so the watches before it have ended.
      if (end === 'gone' || end === 'silent' || wasRefused(error)) this.#version = undefined
      const waitMs = this.#nextWaitMs(error)
      events.ended(end, waitMs, error)
      await pause(clock, waitMs, this.#stop.signal)
    }
  }

  #nextWaitMs(error: AppError | undefined): number {
    // Jitter, so that reflectors that failed together do not retry together.
    const { firstMs, lastMs } = this.#options.backOff ?? backOff
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

  /** Lists everything page by page, then replaces the copy in one step. */
  async #list(): Promise<string> {
    const items: T[] = []
    let version = ''
    for await (const page of listPages<T>(this.#deps.api, this.#options, () => this.#stop.signal)) {
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
    const { labelSelector, fieldSelector } = this.#options
    const query = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds }
    const signal = AbortSignal.any([this.#stop.signal, silence.signal])

    const startedAtMs = clock.nowMs()
    const watchdog = () => clock.after(this.#options.inactivityMs ?? inactivityMs, () => silence.abort())
    let timer = watchdog()
    try {
      const opened = () => {
        this.#downSinceMs = undefined
      }
      for await (const event of api.watch<T>(this.#options, query, signal, opened)) {
        timer[Symbol.dispose]()
        timer = watchdog()
        this.#handle(event)
      }
    } finally {
      timer[Symbol.dispose]()
      this.#downSinceMs ??= clock.nowMs()
      if (clock.nowMs() - startedAtMs >= stableMs) this.#failures = 0
    }
  }

  #handle(event: WatchEvent<T>) {
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
