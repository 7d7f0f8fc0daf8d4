import type { CaptureOptions } from '#shared/capture/options.ts'

const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, entry]) => [name, sorted(entry)]))
}

/**
 * What captures have in common that may share one result, as one text: their effective options in one order, the address
 * in its normal form, without what only says how the result is kept and told.
 */
export const cacheTextOf = (options: CaptureOptions): string => {
  const { cache_ttl: _ttl, webhook_url: _webhook, response_type: _response, url, ...rest } = options
  const address = url === undefined ? {} : { url: URL.parse(url)?.href ?? url }
  return JSON.stringify(sorted({ ...rest, ...address }))
}
