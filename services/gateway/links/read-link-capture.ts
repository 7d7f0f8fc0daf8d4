import { fromQuery } from '#shared/capture/from-query.ts'
import type { ParameterName } from '#shared/capture/options.ts'
import { type CaptureRules, parseCapture, type ParsedCapture } from '#gateway/parameters/parse-capture.ts'
import { validationError } from '#gateway/http/errors.ts'

/** `cache_ttl` of a link without one, in seconds: a view is not a charge. */
const ttlDefaultSeconds = 86_400
/** Smallest `cache_ttl` of a link, in seconds: it bounds how often one link captures. */
const ttlMinSeconds = 60

const credentials = 'is not allowed in a link, which anyone who sees it can read'
const writes = 'is not allowed in a link, which anyone who sees it can repeat'
const notAnImage = 'is not allowed in a link, which returns the image alone'

/** Parameters that a link may not have, with the reason. */
export const refusedInLinks: Partial<Record<ParameterName, string>> = {
  headers: credentials,
  header_origins: credentials,
  cookies: credentials,
  local_storage: credentials,
  session_storage: credentials,
  proxy: credentials,
  webhook_url: credentials,
  upload_to: writes,
  upload_key: writes,
  response_type: notAnImage,
  outputs: notAnImage,
  renditions: notAnImage,
  extract_metadata: notAnImage,
}

const hasUserinfo = (address: unknown): boolean => {
  const url = typeof address === 'string' ? URL.parse(address) : null
  return url !== null && (url.username !== '' || url.password !== '')
}

const errorsOf = (input: Readonly<Record<string, unknown>>) => {
  const refused = Object.entries(refusedInLinks).filter(([name]) => input[name] !== undefined)
  const ttl = input['cache_ttl']
  return Object.fromEntries([
    ...refused.map(([name, reason]) => [name, [reason]]),
    ...(hasUserinfo(input['url']) ? [['url', [`with a password ${credentials}`]]] : []),
    ...(typeof ttl === 'number' && ttl < ttlMinSeconds
      ? [['cache_ttl', [`must be at least ${ttlMinSeconds} seconds in a link`]]]
      : []),
  ]) as Readonly<Record<string, readonly string[]>>
}

/** Reads the capture of a link from its parameters, as a query. Throws `VALIDATION_ERROR`. */
export const readLinkCapture = (captureQuery: string, rules: CaptureRules): ParsedCapture => {
  const read = fromQuery(captureQuery)
  if (!read.ok) throw validationError(read.errors)
  const input = { cache_ttl: ttlDefaultSeconds, on_timeout: 'capture', ...read.input }
  const parsed = parseCapture(input, rules, { ...read.errors, ...errorsOf(input) })
  if (!parsed.ok) throw validationError(parsed.errors)
  return { ...parsed, features: [...parsed.features, 'signed_urls'] }
}
