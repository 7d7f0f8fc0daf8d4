import { isDecodable } from '#shared/capture/is-decodable.ts'

/**
 * No operation has a longer path. What cannot be decoded costs an exception each time, six microseconds, and the router reads
 * an escaped path three times.
 */
const pathCharactersMax = 512

/**
 * A request target whose path can be decoded: a segment that is not percent-encoded UTF-8 stands for itself, so that what
 * looks like a malformed id is looked up, and not found, as every other. A path beyond `pathCharactersMax` keeps its segments
 * and loses its escapes. The query stays as it is.
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
