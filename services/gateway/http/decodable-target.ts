import { isDecodable } from '#shared/capture/is-decodable.ts'

/**
 * A request target whose path can be decoded: a segment that is not percent-encoded UTF-8 stands for itself, so that what
 * looks like a malformed id is looked up, and not found, as every other. The query stays as it is.
 */
export const decodableTarget = (target: string): string => {
  const queryAt = target.indexOf('?')
  const path = queryAt < 0 ? target : target.slice(0, queryAt)
  if (!path.includes('%')) return target
  const segments = path.split('/').map((each) => (isDecodable(each) ? each : each.replaceAll('%', '%25')))
  return segments.join('/') + target.slice(path.length)
}
