import { listsCharactersMax, readTargetLists, type TargetLists, type TargetTexts } from '#shared/policy/target-lists.ts'

/**
 * Header by which a client of the egress filter names the lists of targets of the account that it connects for, and by which the
 * filter confirms that it applied them; never passed on.
 */
export const targetsHeader = 'x-shutterfleet-targets'

/** The value of the filter's header. */
export const targetsApplied = 'applied'

/** More than the characters of the entries with the quotes, commas and names around them. */
const valueCharactersMax = 2 * listsCharactersMax

/** The value of the client's header: JSON in printable ASCII, as entries in their normal form are. */
export const targetsHeaderValue = ({ allow, deny }: TargetTexts): string => JSON.stringify({ allow, deny })

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** Parses the value of the client's header; `undefined` if a part of it cannot be read. */
export const parseTargets = (value: string): TargetLists | undefined => {
  if (value.length > valueCharactersMax) return undefined
  try {
    const { allow, deny } = JSON.parse(value) as { readonly allow?: unknown; readonly deny?: unknown }
    return isTexts(allow) && isTexts(deny) ? readTargetLists({ allow, deny }) : undefined
  } catch {
    return undefined
  }
}
