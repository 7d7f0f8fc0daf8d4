import type { Patch } from '#shared/kube/client.ts'
import type { Clock } from '#controller/kube/clock.ts'
import { type Change, isRemovable, objectAfter, objectAfterRemoval, type Removal } from './commit.ts'
import type { Kind } from './kind.ts'
import { checkMeta, kinds, invalidError } from './kinds.ts'
import { at, isPlainObject, type Meta, type Stored, timeText, type JsonObject } from './object.ts'
import { applyConfig, followUpdate, type Writer } from './ownership.ts'
import { jsonPatch, mergePatch } from './patches.ts'
import { checkQuota } from './quota.ts'
import { statusError, conflictError, notFoundError } from './status-error.ts'
import { keyIn, ModelStore } from './store.ts'

/** One object, or a subresource of it. */
export type Target = {
  readonly kind: Kind
  readonly namespace?: string | undefined
  readonly name: string
  readonly subresource?: string | undefined
}

type ApplyPatch = Extract<Patch, { kind: 'apply' }>

/** Request handling of kube-apiserver, without a network. Throws a StatusError for rejected requests. */
export class ModelServer {
  readonly store = new ModelStore()
  readonly #clock: Clock
  readonly #kinds = new Map(kinds.map((kind) => [kind.resource, kind]))
  #createdCount = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The kind of a resource. Throws a StatusError if it is not served. */
  kind(resource: string): Kind {
    const kind = this.#kinds.get(resource)
    if (!kind) throw statusError(404, 'NotFound', 'the server could not find the requested resource')
    return kind
  }

  /** The kind with an apiVersion and a name. */
  kindNamed(apiVersion: string, name: string): Kind {
    const kind = [...this.#kinds.values()].find((each) => each.apiVersion === apiVersion && each.kind === name)
    if (!kind) throw statusError(404, 'NotFound', `no kind ${apiVersion} ${name}`)
    return kind
  }

  /** Adds or replaces a served kind; `undefined` removes it. */
  setKind(resource: string, kind: Kind | undefined): void {
    if (kind) this.#kinds.set(resource, kind)
    else this.#kinds.delete(resource)
  }

  get({ kind, namespace, name }: Target): Stored {
    const found = this.store.get(kind.resource, keyIn(namespace, name))
    if (!found) throw notFoundError(kind.plural, name)
    return found
  }

  /** Creates an object. `manager` owns its fields; without a manager they have no owner. */
  create(kind: Kind, namespace: string | undefined, manifest: JsonObject, manager?: string): Stored {
    const object = this.#born(kind, namespace, manifest)
    const { name } = object.metadata
    checkMeta(object)
    kind.check?.(object, undefined)
    if (this.store.get(kind.resource, keyIn(namespace, name)))
      throw statusError(409, 'AlreadyExists', `${kind.plural} "${name}" already exists`)
    checkQuota(this.store, kind, object)
    const writer = manager === undefined ? undefined : this.#writer({ kind, name }, manager)
    const managedFields = writer ? followUpdate({}, object, [], writer) : object.metadata.managedFields
    return this.store.put(kind.resource, {
      ...object,
      metadata: { ...object.metadata, ...(managedFields && { managedFields }) },
    })
  }

  patch(target: Target, patch: Patch, manager: string): Stored {
    if (patch.kind === 'apply') return this.#apply(target, patch)
    const live = this.get(target)
    const { kind, name, subresource } = target
    const shown = subresource === 'scale' ? scaleOf(live) : live
    const patched = (patch.kind === 'merge' ? mergePatch(shown, patch.body) : jsonPatch(shown, patch.body)) as Stored
    if (patched.metadata.resourceVersion !== live.metadata.resourceVersion)
      throw conflictError(kind.plural, name, 'the object has been modified')
    if (patched.metadata.uid !== live.metadata.uid || patched.metadata.name !== name)
      throw invalidError(live, 'metadata.uid: field is immutable')
    const writer = this.#writer(target, manager)
    if (subresource !== 'scale') return this.#commit({ kind, live, proposed: patched, subresource, writer })
    const replicas = at(patched, 'spec', 'replicas')
    const proposed = { ...live, spec: { ...(live['spec'] as JsonObject), replicas } }
    return scaleOf(
      this.#commit({ kind, live, proposed, subresource, writer, ...(replicas === 0 && { ownsNothing: true }) }),
    )
  }

  /** Changes an object as Kubernetes' own controllers do, without field ownership; undefined if it does not exist. */
  edit({ kind, namespace, name, subresource }: Target, change: (object: Stored) => Stored): Stored | undefined {
    const live = this.store.get(kind.resource, keyIn(namespace, name))
    return live && this.#commit({ kind, live, proposed: change(live), subresource, writer: undefined })
  }

  remove(target: Target, removal: Removal = {}): void {
    const { kind, name } = target
    const { uid } = removal
    const live = this.get(target)
    if (uid !== undefined && uid !== live.metadata.uid)
      throw conflictError(kind.plural, name, `Precondition failed: UID in precondition: ${uid}`)
    const left = objectAfterRemoval(kind, live, removal, this.#clock.date())
    if (left === undefined) this.store.remove(kind.resource, live)
    else if (left !== live) this.store.put(kind.resource, left)
  }

  #born(kind: Kind, namespace: string | undefined, manifest: JsonObject): Stored {
    const meta = (isPlainObject(manifest['metadata']) ? manifest['metadata'] : {}) as Partial<Meta> & {
      generateName?: string
    }
    if (meta.resourceVersion !== undefined)
      throw statusError(500, 'InternalError', 'resourceVersion should not be set on objects to be created')
    this.#createdCount += 1
    const { status: _, ...withoutStatus } = manifest
    const born: Stored = {
      ...(kind.hasStatus ? withoutStatus : manifest),
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: {
        ...meta,
        // The real server appends five random characters.
        name: meta.name ?? `${meta.generateName ?? ''}${this.#createdCount.toString(36).padStart(5, '0')}`,
        ...(namespace !== undefined && { namespace }),
        uid: `00000000-0000-4000-8000-${String(this.#createdCount).padStart(12, '0')}`,
        resourceVersion: '',
        creationTimestamp: timeText(this.#clock.date()),
        ...(kind.isNewGeneration && { generation: 1 }),
      },
    }
    return kind.applyDefaults?.(born) ?? born
  }

  #apply(target: Target, { body, force, fieldManager }: ApplyPatch): Stored {
    const { kind, namespace, name, subresource } = target
    const live = this.store.get(kind.resource, keyIn(namespace, name))
    if (!live && subresource !== undefined) throw notFoundError(kind.plural, name)
    const config = configOf(kind, body as JsonObject, subresource)
    const writer = this.#writer(target, fieldManager)
    const before = live ?? ({ metadata: { name } } as Stored)
    const entries = before.metadata.managedFields ?? []
    const applied = applyConfig({ live: before, config, entries }, writer, force)
    const merged = applied.merged as Stored
    const proposed = { ...merged, metadata: { ...merged.metadata, managedFields: applied.entries } }
    if (!live) return this.create(kind, namespace, proposed)
    return this.#commit({ kind, live, proposed, subresource, writer: undefined })
  }

  /** Stores a change. A change without effect is not written. */
  #commit(change: Change): Stored {
    const { kind, live } = change
    const next = objectAfter(change)
    if (next === live) return live
    checkMeta(next)
    kind.check?.(next, live)
    if (!isRemovable(next)) return this.store.put(kind.resource, next)
    this.store.remove(kind.resource, next)
    return next
  }

  #writer({ kind, subresource }: Target, manager: string): Writer {
    const time = timeText(this.#clock.date())
    return { manager, apiVersion: kind.apiVersion, time, ...(subresource !== undefined && { subresource }) }
  }
}

/** The parts of an applied configuration that its resource or subresource accepts. */
const configOf = (kind: Kind, body: JsonObject, subresource: string | undefined): JsonObject => {
  if (body['apiVersion'] !== kind.apiVersion || body['kind'] !== kind.kind)
    throw statusError(400, 'BadRequest', 'apiVersion and kind are needed')
  if (at(body, 'metadata', 'managedFields') !== undefined)
    throw statusError(400, 'BadRequest', 'metadata.managedFields must be nil')
  const { status, ...rest } = body
  if (subresource === 'status') return { status }
  return kind.hasStatus || status === undefined ? rest : body
}

/** The subresource `scale` of an object. */
const scaleOf = ({ metadata, spec, status }: Stored): Stored => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: at(spec, 'replicas') ?? 0 },
    status: { replicas: at(status, 'replicas') ?? 0 },
  }
}
