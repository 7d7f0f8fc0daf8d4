/** Sets an entry as the most recent of a map, and evicts the least recently set one above `max` entries. */
export const setWithEviction = <Value>(map: Map<string, Value>, name: string, value: Value, max: number): void => {
  map.delete(name)
  map.set(name, value)
  const [oldest] = map.keys()
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
