import { createHash } from 'node:crypto'

/** The named fields of an object that are defined. */
export const pick = <T extends object, const K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]))) as Pick<T, K>

/** The metadata that is read of every object. */
export type ObservedMetadata = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly labels?: Readonly<Record<string, string>>
}

/** Names of the fields of `ObservedMetadata`. */
export const metadataFields = ['name', 'namespace', 'uid', 'resourceVersion', 'labels'] as const

/** A condition of any kind of object. */
export type ObservedCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime?: string
}

/** Maximum characters kept of a condition's or a container's message. */
export const messageChars = 300

/** Trims a condition to the fields that are read. */
export const trimCondition = (condition: ObservedCondition): ObservedCondition => {
  const trimmed = pick(condition, ['type', 'status', 'reason', 'message', 'lastTransitionTime'])
  return trimmed.message === undefined ? trimmed : { ...trimmed, message: trimmed.message.slice(0, messageChars) }
}

/** The condition of this type; undefined if the object has none. */
export const conditionOf = (
  object: { readonly status?: { readonly conditions?: readonly ObservedCondition[] } },
  type: string,
): ObservedCondition | undefined => object.status?.conditions?.find((condition) => condition.type === type)

/** Hash of a value, 16 hexadecimal characters; depends on the order of fields. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
