import { isDecodable } from '#shared/capture/is-decodable.ts'

/**
 * No operation has a longer path. Each failed decoding costs an exception, six microseconds, and the router decodes an
 * escaped path three times.
 */
const pathCharactersMax = 512

/**
 * Rewrites a request target so that its path can be decoded: in a segment that is not percent-encoded UTF-8, each `%` is
 * escaped, so that a malformed id results in `NOT_FOUND`, like any unknown id. In a path above `pathCharactersMax` each
 * `%` becomes `_`. The query is unchanged.
 */
export const decodableTarget = (target: string): string => {
  const queryAt = target.indexOf('?')
  const path = queryAt < 0 ? target : target.slice(0, queryAt)
  if (!path.includes('%')) return target
  const query = target.slice(path.length)
  if (path.length > pathCharactersMax) return path.replaceAll('%', '_') + query
  const segments = path.split('/').map((each) => (isDecodable(each) ? each : each.replaceAll('%', '%25')))
  return segments.join('/') + query
}
