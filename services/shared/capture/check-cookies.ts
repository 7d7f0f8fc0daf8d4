import type { Report } from './faults.ts'
import type { CaptureParameters } from './options.ts'

type Cookie = NonNullable<CaptureParameters['cookies']>[number]

/** Most characters of a cookie's name and value together. */
const cookieCharacters = 4096

const covers = (domain: string, host: string): boolean => {
  const bare = domain.replace(/^\./, '').toLowerCase()
  return host === bare || (bare !== '' && host.endsWith(`.${bare}`))
}

/** Checks the form and size of cookies beyond their schema. */
export const checkCookies = (cookies: readonly Cookie[], report: Report): void => {
  for (const [index, { name, value }] of cookies.entries()) {
    if (/[=;\s]/.test(name)) report(`cookies.${index}.name`, 'must not contain "=", ";" or white space')
    if (value.includes(';')) report(`cookies.${index}.value`, 'must not contain ";"')
    if (name.length + value.length > cookieCharacters) {
      report(`cookies.${index}.value`, `must have at most ${cookieCharacters} characters together with the name`)
    }
  }
}

/** Checks that each cookie can reach the target: `host` is the target's, undefined where the source is not a URL. */
export const checkCookieDomains = (cookies: readonly Cookie[], host: string | undefined, report: Report): void => {
  for (const [index, { domain }] of cookies.entries()) {
    const field = `cookies.${index}.domain`
    if (domain === undefined && host === undefined) report(field, 'is required where there is no url')
    if (domain !== undefined && host !== undefined && !covers(domain, host)) report(field, 'must cover the host of url')
  }
}
