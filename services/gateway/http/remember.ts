/** Sets an entry as the most recent of a map, and evicts the least recently set one above `max` entries. */
export const remember = <Value>(all: Map<string, Value>, name: string, value: Value, max: number): void => {
  all.delete(name)
  all.set(name, value)
  const [oldest] = all.keys()
  if (all.size > max && oldest !== undefined) all.delete(oldest)
}
