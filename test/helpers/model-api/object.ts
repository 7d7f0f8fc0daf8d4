/** A JSON object. */
export type JsonObject = { readonly [field: string]: unknown }

/** An owner of an object, which is deleted with its last owner. */
export type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** The fields of one manager. */
export type ManagedEntry = {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly fieldsType: 'FieldsV1'
  readonly fieldsV1: JsonObject
  readonly subresource?: string
  readonly time?: string
}

/** The metadata of a stored object. */
export type Meta = {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly Owner[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedEntry[]
}

/** A stored object. Immutable: a change replaces it. */
export type Stored = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Meta
  readonly [field: string]: unknown
}

/** Whether a value is a JSON object. */
export const isPlainObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Deep equality; an undefined field equals a missing one. */
export const isSameJson = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((each, at) => isSameJson(each, other[at]))
  if (!isPlainObject(one) || !isPlainObject(other)) return false
  for (const field in one) if (!isSameJson(one[field], other[field])) return false
  for (const field in other) if (other[field] !== undefined && one[field] === undefined) return false
  return true
}

/** JSON that does not depend on the order of fields. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_name, each: unknown) =>
    isPlainObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  )

/** The value at a path of fields; undefined if any step is missing. */
export const at = (value: unknown, ...path: readonly string[]): unknown => {
  let here = value
  for (const field of path) here = isPlainObject(here) ? here[field] : undefined
  return here
}

/** The controlling owner of an object. */
export const controllerOf = ({ metadata }: Stored): Owner | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)

/** Formats a date as Kubernetes' Time, in whole seconds. */
export const timeText = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z')
