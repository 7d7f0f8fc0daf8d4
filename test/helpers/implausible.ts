/** Every number in `value` with its path, such as `ours.p50`. */
const numbersIn = (value: unknown, path = ''): [path: string, number: number][] => {
  if (typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value)
  return [...entries].flatMap(([name, each]) => numbersIn(each, path === '' ? String(name) : `${path}.${String(name)}`))
}

/**
 * What cannot be right in the result of a measurement: numbers that are not finite and positive, and results without any
 * number. Numbers whose path `mayBeZero` matches may also be 0.
 */
export const implausible = (value: unknown, mayBeZero = /^$/): string[] => {
  const numbers = numbersIn(value)
  if (numbers.length === 0) return ['no number']
  return numbers
    .filter(([path, number]) => !Number.isFinite(number) || number < 0 || (number === 0 && !mayBeZero.test(path)))
    .map(([path, number]) => `${path} = ${number}`)
}
