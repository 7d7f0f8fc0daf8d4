import type { Report } from '#shared/capture/validation-errors.ts'

/** A token of RFC 9110 §5.6.2, at most 100 characters. */
const nameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/

/** Headers of the connection or its routing, headers that Chromium does not let callers set, and a name that is unsafe as an object key. */
const forbidden: readonly string[] = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'set-cookie',
  'cookie2',
  '__proto__',
]

/** Chromium does not send these headers if they list a forbidden method (https://fetch.spec.whatwg.org/#forbidden-request-header). */
const overriding: readonly string[] = ['x-http-method', 'x-http-method-override', 'x-method-override']
const forbiddenMethods: readonly string[] = ['connect', 'trace', 'track']

const overridesWith = (name: string, value: unknown): string | undefined =>
  overriding.includes(name) && typeof value === 'string'
    ? value.split(',').find((method) => forbiddenMethods.includes(method.trim().toLowerCase()))
    : undefined

const isForbidden = (name: string): boolean => forbidden.includes(name) || name.startsWith('proxy-')

/** Checks the names of headers sent to the target, and method overrides; the schema checks the form of values. */
export const checkHeaders = (headers: unknown, report: Report): void => {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return
  for (const [name, value] of Object.entries(headers)) {
    const method = overridesWith(name.toLowerCase(), value)
    if (!nameForm.test(name)) report(`headers.${name}`, 'the name must be an HTTP token of 1 to 100 characters')
    else if (isForbidden(name.toLowerCase())) report(`headers.${name}`, 'must not be set')
    else if (method !== undefined) report(`headers.${name}`, `must not name the method ${method.trim()}`)
  }
}

const isOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    [url.origin, `${url.origin}/`].includes(url.href) &&
    !/[?#\\]/.test(text)
  )
}

/** Checks the origins that headers are sent to besides that of the target; the schema checks their number. */
export const checkHeaderOrigins = (origins: unknown, report: Report): void => {
  if (!Array.isArray(origins)) return
  for (const [index, origin] of (origins as readonly unknown[]).entries()) {
    if (typeof origin === 'string' && !isOrigin(origin))
      report(
        `header_origins.${index}`,
        'must be an origin such as https://api.example.com: http or https, a host, optionally a port',
      )
  }
}
