import type { OperatorRole } from '#shared/db/sign-in-links.ts'

/** Which claim makes a person an operator, and by which values. An empty claim: none does. */
export type OperatorClaim = {
  readonly claim: string
  readonly values: readonly string[]
  readonly readOnlyValues: readonly string[]
}

/**
 * The role of a person whose claim has this value; null: no operator. Texts are compared exactly, a list has to contain one;
 * anything else, such as an object or a number, makes nobody an operator.
 */
export const operatorRoleOf = (
  value: unknown,
  { values, readOnlyValues }: Pick<OperatorClaim, 'values' | 'readOnlyValues'>,
): OperatorRole | null => {
  const own: readonly unknown[] = Array.isArray(value) ? value : [value]
  const hasAny = (wanted: readonly string[]) => wanted.some((each) => own.includes(each))
  if (hasAny(values)) return 'operator'
  return hasAny(readOnlyValues) ? 'operator_read_only' : null
}
