import type { Kind } from './kind.ts'
import { isSameJson, isPlainObject, type ManagedEntry, type Meta, type Stored, timeText } from './object.ts'
import { followUpdate, type Writer } from './ownership.ts'

/** A change of an object, through its main resource or a subresource. */
export type Change = {
  readonly kind: Kind
  readonly live: Stored
  readonly proposed: Stored
  readonly subresource: string | undefined
  /** Owner of the changed fields; undefined if the proposal has its own managedFields, or the fields get no owner. */
  readonly writer: Writer | undefined
  /** Whether the changed fields get no owner: a size of 0, which a Scale omits. */
  readonly ownsNothing?: boolean
}

const keptFields = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'] as const

/** Returns the object after a change, with its old resourceVersion; `live` itself if nothing changed. */
export const objectAfter = ({ kind, live, proposed, subresource, writer, ownsNothing = false }: Change): Stored => {
  const through = throughSubresource(kind, live, proposed, subresource)
  // A custom resource is pruned and defaulted at each write.
  const filled = kind.isCustom && subresource === undefined ? (kind.applyDefaults?.(through) ?? through) : through
  const preserved = Object.fromEntries(keptFields.map((field) => [field, live.metadata[field]]))
  const { finalizers = [], ownerReferences = [], ...meta } = filled.metadata
  const lists = { ...(finalizers.length > 0 && { finalizers }), ...(ownerReferences.length > 0 && { ownerReferences }) }
  const metadata = { ...meta, ...lists, ...preserved, ...generationAfter(kind, live, filled) } as Meta
  const next: Stored = { ...filled, metadata: { ...metadata, ...fieldsAfter(live, filled, writer, ownsNothing) } }
  return isSameJson(next, live) ? live : next
}

/** Whether a deleted object can be removed: no finalizers and no grace period left. */
export const isRemovable = ({ metadata }: Stored): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0

/** Takes only the status from a write to the subresource `status`, and everything but the status from other writes. */
const throughSubresource = (kind: Kind, live: Stored, proposed: Stored, subresource: string | undefined): Stored => {
  if (subresource !== 'status') return kind.hasStatus ? { ...proposed, status: live['status'] } : proposed
  const { managedFields = live.metadata.managedFields, annotations } = proposed.metadata
  const metadata = { ...live.metadata, managedFields, ...(!kind.isCustom && annotations && { annotations }) }
  return { ...live, metadata: metadata as Meta, status: proposed['status'] }
}

const generationAfter = ({ isNewGeneration }: Kind, live: Stored, next: Stored) => {
  if (!isNewGeneration) return {}
  return { generation: (live.metadata.generation ?? 0) + (isNewGeneration(live, next) ? 1 : 0) }
}

const nobody = { manager: 'nobody at all' }

const fieldsAfter = (
  live: Stored,
  next: Stored,
  writer: Writer | undefined,
  ownsNothing: boolean,
): { managedFields?: readonly ManagedEntry[] } => {
  const entries = next.metadata.managedFields?.filter(
    ({ fieldsV1 }) => isPlainObject(fieldsV1) && Object.keys(fieldsV1).length > 0,
  )
  if (!entries) return {}
  if (!writer) return { managedFields: entries }
  if (!ownsNothing) return { managedFields: followUpdate(live, next, entries, writer) }
  const left = followUpdate(live, next, entries, { ...writer, ...nobody })
  return { managedFields: left.filter(({ manager }) => manager !== nobody.manager) }
}

/** Options and effects of a deletion. */
export type Removal = {
  readonly uid?: string | undefined
  readonly graceSeconds?: number | undefined
  readonly propagation?: string | undefined
}

/** Returns the object after a request to delete it; undefined if neither finalizers nor a grace period keep it. */
export const objectAfterRemoval = (kind: Kind, live: Stored, removal: Removal, date: Date): Stored | undefined => {
  const { metadata } = live
  const finalizer = finalizerOf(removal.propagation ?? (kind.orphansDependents ? 'Orphan' : 'Background'))
  const finalizers = [...new Set([...(metadata.finalizers ?? []), ...finalizer])]
  const grace = graceOf(kind, live, removal)
  if (grace === 0 && finalizers.length === 0) return undefined
  const isAsked = metadata.deletionTimestamp !== undefined
  if (isAsked && grace >= (metadata.deletionGracePeriodSeconds ?? 0)) return live
  const deletion = {
    deletionTimestamp: timeText(new Date(date.getTime() + grace * 1000)),
    deletionGracePeriodSeconds: grace,
    ...(finalizers.length > 0 && { finalizers }),
    ...(metadata.generation !== undefined && { generation: metadata.generation + 1 }),
  }
  return { ...live, metadata: { ...metadata, ...deletion } }
}

const graceOf = (kind: Kind, live: Stored, { graceSeconds }: Removal): number => {
  const defaultGraceSeconds = kind.graceSeconds?.(live) ?? 0
  return defaultGraceSeconds === 0 ? 0 : (graceSeconds ?? defaultGraceSeconds)
}

const finalizerOf = (propagation: string): string[] => {
  if (propagation === 'Foreground') return ['foregroundDeletion']
  return propagation === 'Orphan' ? ['orphan'] : []
}
