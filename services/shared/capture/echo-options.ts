import { mask, maskQuery, maskUrl } from './mask-url.ts'
import { type CaptureParameters, type ParameterName, withDefaults } from './options.ts'

/** A source that is not an address, as a record shows it: never its text. `sha256` in hex. */
export type SourceDigest = { readonly bytes: number; readonly sha256: string }

/** A record's `options`. */
export type EchoedOptions = Readonly<Record<string, unknown>>

const maskValues = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, mask]))

/**
 * The `options` of a new record: effective width, height and format, and what was supplied, with secrets masked. `url`
 * is a field of its own; of html and markdown only kind, size and digest are shown.
 */
export const echoOptions = (supplied: CaptureParameters, digest?: SourceDigest): EchoedOptions => {
  const { url: _, html, markdown, headers, cookies, proxy, webhook_url: webhookUrl, ...plain } = supplied
  const { width, height, format } = withDefaults(supplied)
  const source = html === undefined ? (markdown === undefined ? undefined : 'markdown') : 'html'
  return {
    ...(source && digest && { source, source_bytes: digest.bytes, source_sha256: digest.sha256 }),
    width,
    height,
    format,
    ...plain,
    ...(headers && { headers: maskValues(headers) }),
    ...(cookies && { cookies: cookies.map((cookie) => ({ ...cookie, value: mask })) }),
    ...(proxy !== undefined && { proxy: maskUrl(proxy) }),
    ...(webhookUrl !== undefined && { webhook_url: maskQuery(webhookUrl) }),
  }
}

/** The `url` of a record, its password masked; null where the source is not an address. */
export const echoUrl = (supplied: CaptureParameters): string | null =>
  supplied.url === undefined ? null : maskUrl(supplied.url)

/** What the options of a completed record show beside width, height and format, requested or not, as the contract names them. */
export const completedNames = [
  'quality',
  'device',
  'block_ads',
  'block_cookies',
  'dark_mode',
  'delay',
  'timeout',
  'retina',
  'full_page',
] as const satisfies readonly ParameterName[]

/** The `options` of a completed record: `completedNames` are always there. */
export const echoCompleted = (options: EchoedOptions): EchoedOptions => {
  const effective = withDefaults({})
  return { ...Object.fromEntries(completedNames.map((name) => [name, effective[name]])), ...options }
}
