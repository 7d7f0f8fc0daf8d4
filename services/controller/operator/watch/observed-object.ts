import { createHash } from 'node:crypto'

/** The named fields of an object, those that it has. */
export const pick = <T extends object, const K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]]))) as Pick<T, K>

/** What is read of the metadata of every object. */
export type ObservedMetadata = {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly labels?: Readonly<Record<string, string>>
}

/** Names of the fields of `ObservedMetadata`. */
export const metadataFields = ['name', 'namespace', 'uid', 'resourceVersion', 'labels'] as const

/** A condition as every kind of object has them. */
export type ObservedCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime?: string
}

/** Characters of a condition's or a container's message that are kept. */
export const messageChars = 300

/** Trims a condition to what is read. */
export const trimCondition = (condition: ObservedCondition): ObservedCondition => {
  const kept = pick(condition, ['type', 'status', 'reason', 'message', 'lastTransitionTime'])
  return kept.message === undefined ? kept : { ...kept, message: kept.message.slice(0, messageChars) }
}

/** The condition of this type; undefined where the object has none. */
export const conditionOf = (
  of: { readonly status?: { readonly conditions?: readonly ObservedCondition[] } },
  type: string,
): ObservedCondition | undefined => of.status?.conditions?.find((condition) => condition.type === type)

/** A text of 16 characters that differs for different values; the order of fields counts. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
