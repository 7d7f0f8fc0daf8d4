/** Makes an entry the latest of a map, and drops the one that was set longest ago where there are then more than `max`. */
export const remember = <Value>(all: Map<string, Value>, name: string, value: Value, max: number): void => {
  all.delete(name)
  all.set(name, value)
  const [oldest] = all.keys()
  if (all.size > max && oldest !== undefined) all.delete(oldest)
}
