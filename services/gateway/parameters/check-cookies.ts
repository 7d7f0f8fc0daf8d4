import { getPublicSuffix } from 'tldts-experimental'
import type { Report } from '#shared/capture/validation-errors.ts'

/** A cookie as sent, not validated. */
type SentCookie = { readonly name?: unknown; readonly value?: unknown; readonly domain?: unknown }

/** Maximum characters of a cookie's name and value together. */
const cookieCharacters = 4096

const bareOf = (domain: string): string => domain.replace(/^\./, '').toLowerCase()

const covers = (bare: string, host: string): boolean => {
  return host === bare || (bare !== '' && host.endsWith(`.${bare}`))
}

/**
 * Whether a domain is a public suffix such as `co.uk` or `github.io`, by the list of publicsuffix.org. False if the host has
 * that very name, because browsers then accept the cookie (RFC 6265 §5.3).
 */
const isPublicSuffix = (bare: string, host: string | undefined): boolean =>
  bare !== host && getPublicSuffix(bare, { allowPrivateDomains: true, validateHostname: false }) === bare

const cookiesIn = (cookies: unknown): [index: number, cookie: SentCookie][] =>
  Array.isArray(cookies)
    ? [...(cookies as readonly unknown[]).entries()].flatMap(([index, cookie]) =>
        typeof cookie === 'object' && cookie !== null ? [[index, cookie]] : [],
      )
    : []

const areTooLong = (name: string, value: string): boolean =>
  Math.max(name.length, value.length) <= cookieCharacters && name.length + value.length > cookieCharacters

/** Checks form and size of cookies beyond their schema, which reports wrong types. */
export const checkCookies = (cookies: unknown, report: Report): void => {
  for (const [index, { name, value }] of cookiesIn(cookies)) {
    if (typeof name === 'string' && /[=;\s]/.test(name)) {
      report(`cookies.${index}.name`, 'must not contain "=", ";" or white space')
    }
    if (typeof value === 'string' && value.includes(';')) report(`cookies.${index}.value`, 'must not contain ";"')
    if (typeof name === 'string' && typeof value === 'string' && areTooLong(name, value)) {
      report(`cookies.${index}.value`, `must have at most ${cookieCharacters} characters together with the name`)
    }
  }
}

/** Checks that browsers send each cookie to the target `host`, which is undefined if the source is not a URL. */
export const checkCookieDomains = (cookies: unknown, host: string | undefined, report: Report): void => {
  for (const [index, { domain }] of cookiesIn(cookies)) {
    const field = `cookies.${index}.domain`
    if (domain === undefined && host === undefined) report(field, 'is required where there is no url')
    if (typeof domain !== 'string') continue
    const bare = bareOf(domain)
    if (host !== undefined && !covers(bare, host)) report(field, 'must cover the host of url')
    else if (isPublicSuffix(bare, host)) report(field, 'must not be a public suffix, which sites of others end in too')
  }
}
