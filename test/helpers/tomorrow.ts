/**
 * The same body with what `v1` may add to it: a field more in each object, and codes that are not known yet. Free names have texts as
 * values, so that a text fits there too.
 */
export const ofTomorrow = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ofTomorrow)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    ['status', 'code', 'mime_type'].includes(name) && typeof each === 'string' ? 'of_tomorrow' : ofTomorrow(each),
  ])
  return { ...Object.fromEntries(fields), of_tomorrow: 'of_tomorrow' }
}
