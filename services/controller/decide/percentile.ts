/** The nearest rank: the least value that `share` of all values do not exceed; undefined without values. */
export const percentile = (values: readonly number[], share: number): number | undefined =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * share) - 1)]
