/** The largest Levenshtein distance that still counts as a typing error. */
const changesMax = 2

const levenshteinDistance = (one: string, other: string): number => {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 0; row < one.length; row += 1) {
    const line = [row + 1]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (one[row] === other[column - 1] ? 0 : 1)
      line.push(Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1))
    }
    above = line
  }
  return above[other.length] ?? 0
}

/** The name that differs least from `typed`; undefined if none is within two changes, or if half of the letters differ. */
export const closestName = (names: readonly string[], typed: string): string | undefined => {
  const [best] = names
    .filter(({ length }) => Math.abs(length - typed.length) <= changesMax)
    .map((name) => ({ name, changes: levenshteinDistance(typed, name) }))
    .toSorted((one, other) => one.changes - other.changes)
  return best && best.changes <= Math.min(changesMax, best.name.length / 2) ? best.name : undefined
}
