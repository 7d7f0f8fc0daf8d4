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

/** The command closest to the first one or two of `words`; undefined if none is within two changes. */
export const closestName = (names: readonly string[], words: readonly string[]): string | undefined => {
  const [best] = names
    .map((name) => {
      const typed = words
        .slice(0, name.split(' ').length)
        .join(' ')
        .slice(0, 2 * name.length)
      return { name, changes: levenshteinDistance(typed, name) }
    })
    .toSorted((one, other) => one.changes - other.changes)
  return best && best.changes <= changesMax ? best.name : undefined
}
