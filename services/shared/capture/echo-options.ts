import { mask, maskQuery, maskUrl } from './mask-url.ts'
import { type CaptureParameters, type ParameterName, withDefaults } from './options.ts'

/** What a record shows of an html or markdown source, instead of its text. `sha256` in hex. */
export type SourceDigest = { readonly bytes: number; readonly sha256: string }

/** A record's `options`. */
export type EchoedOptions = Readonly<Record<string, unknown>>

const maskValues = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(values).map((name) => [name, mask]))

/**
 * Builds the `options` of a new record: effective width, height and format, and the supplied parameters, with secrets
 * masked. `url` is a separate field; of html and markdown only kind, size and digest are included.
 */
export const echoOptions = (supplied: CaptureParameters, digest?: SourceDigest): EchoedOptions => {
  const { url: _, html, markdown, headers, cookies, proxy, webhook_url: webhookUrl, ...others } = supplied
  const { local_storage: local, session_storage: session, actions, ...plain } = others
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
    ...(local && { local_storage: maskValues(local) }),
    ...(session && { session_storage: maskValues(session) }),
    ...(actions && { actions: actions.map((each) => (each.text === undefined ? each : { ...each, text: mask })) }),
    ...(proxy !== undefined && { proxy: maskUrl(proxy) }),
    ...(webhookUrl !== undefined && { webhook_url: maskQuery(webhookUrl) }),
  }
}

/** The `url` of a record, its password masked; null if the source is html or markdown. */
export const echoUrl = (supplied: CaptureParameters): string | null =>
  supplied.url === undefined ? null : maskUrl(supplied.url)

/** Whether there is a mask instead of a secret anywhere in a record's URL or options. */
export const isMasked = (value: unknown): boolean => {
  if (typeof value === 'string') return value === mask || URL.parse(value)?.password === mask
  return typeof value === 'object' && value !== null && Object.values(value).some(isMasked)
}

/** Parameters that the options of a completed record always include beside width, height and format, by the contract. */
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

/** The `options` of a completed record, with the defaults of `completedNames` filled in. */
export const echoCompleted = (options: EchoedOptions): EchoedOptions => {
  const effective = withDefaults({})
  return { ...Object.fromEntries(completedNames.map((name) => [name, effective[name]])), ...options }
}
