import { mask } from '#shared/capture/mask-url.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

/** Most characters of an address that are read, and of one that is written. */
const [addressReadMax, addressMax] = [8192, 2048]
/** Most parameters of a query that are written. */
const parametersMax = 50
/** Shorter values are no secrets: masking them would only make texts unreadable. */
const credentialMin = 4
/** As `credentialMin`, of values that are mostly no secrets: of queries, storage, and cookies of the page itself. */
export const valueMin = 8

/** A whole address in a text, and a parameter of one that is not whole. */
const addressInText = /\b(?:https?|wss?):\/\/[^\s"'<>`\\]+/gi
const parameterInText = /([?&#][^\s=&?#"'<>`\\]+=)[^\s&#"'<>`\\]*/g

const maskSearch = (search: string): string => {
  if (search.length <= 1) return ''
  const parts = search.slice(1).split('&').slice(0, parametersMax)
  return `?${parts.map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=${mask}` : mask)).join('&')}`
}

/** An address without its credentials, its fragment and the values of its query; of a `data:` address only its type is left. */
const maskAddress = (text: string): string => {
  if (/^data:/i.test(text)) return `${text.slice(0, 100).split(',', 1)[0]},`
  const url = URL.parse(text.slice(0, addressReadMax))
  if (!url) return text.replaceAll(parameterInText, `$1${mask}`).slice(0, addressMax)
  if (url.username) url.username = mask
  if (url.password) url.password = mask
  url.hash = ''
  const { search } = url
  url.search = ''
  // No escape is cut in two.
  return (url.href + maskSearch(search)).slice(0, addressMax).replace(/%[\da-f]?$/i, '')
}

/** Replaces secrets in a text, the longest first, as one may contain another. */
export const replaceSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((replaced, secret) => replaced.replaceAll(secret, mask), text)

const cookieValues = (header: string) => header.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim())

/** The secrets that a caller sends with a capture. */
const callersSecrets = ({ source, headers, cookies, storage }: Secrets): string[] => {
  const url = URL.parse(source.url ?? '')
  const sent = Object.entries(headers?.values ?? {}).flatMap(([name, value]) =>
    name.toLowerCase() === 'cookie' ? cookieValues(value) : [value, value.replace(/^\S+\s+/, '')],
  )
  const credentials = [...sent, ...cookies.map(({ value }) => value), url?.username ?? '', url?.password ?? '']
  const items = [
    ...Object.values(storage.local),
    ...Object.values(storage.session),
    ...(url?.searchParams.values() ?? []),
  ]
  const secrets = [
    ...credentials.filter(({ length }) => length >= credentialMin),
    ...items.filter(({ length }) => length >= valueMin),
  ]
  return [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
}

type Secrets = Pick<CapturePlan, 'source' | 'headers' | 'cookies' | 'storage'>

/**
 * Removes secrets from what is recorded of a page: from addresses, wherever they stand, their credentials, fragments and the
 * values of their queries; from all texts what the caller sends with the capture.
 */
export const createRedactor = (plan: Secrets) => {
  const secrets = callersSecrets(plan)
  return {
    address: (text: string): string => replaceSecrets(maskAddress(text), secrets),
    /** A text of at most `charactersMax`. */
    text: (text: string, charactersMax: number): string => {
      const masked = replaceSecrets(text.slice(0, 4 * charactersMax), secrets)
        .replaceAll(addressInText, maskAddress)
        .replaceAll(parameterInText, `$1${mask}`)
      return masked.length > charactersMax ? `${masked.slice(0, charactersMax)}…` : masked
    },
    /** Names of headers that the caller sends, in lower case. */
    headerNames: new Set(Object.keys(plan.headers?.values ?? {}).map((name) => name.toLowerCase())),
  }
}

/** See `createRedactor`. */
export type Redactor = Readonly<ReturnType<typeof createRedactor>>
