/** The value below which the share `q` (0 to 1) of `values` lies, by the nearest rank. Throws on an empty list. */
export const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]
  if (value === undefined) throw new RangeError('quantile of nothing')
  return value
}
