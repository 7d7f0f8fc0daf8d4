import { timingSafeEqual } from 'node:crypto'
import { newToken } from '#shared/db/sign-in-links.ts'

/** Time from the click on the button to the return from the provider. */
export const flowSeconds = 600

/** Longest path to which a sign-in returns; a longer one becomes the overview. */
const pathMax = 1000

const cookiePattern = /^(?<startedAt>\d{1,12})\.[\w-]{43}\.(?<path>[\w-]{0,1400})$/

/** A sign-in in progress. All of it follows from the cookie of the browser that started it, so nothing is stored. */
export type SignInFlow = {
  readonly cookie: string
  readonly state: string
  readonly nonce: string
  /** PKCE verifier (RFC 7636). */
  readonly verifier: string
  /** Path below `/console`. */
  readonly returnPath: string
}

type Hash = (text: string) => Buffer

const flowOf = (hash: Hash, cookie: string, returnPath: string): SignInFlow => {
  const derive = (use: string) => hash(`sign-in ${use} ${cookie}`).toString('base64url')
  return { cookie, returnPath, state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** Starts a sign-in. `hash` is keyed with a secret. */
export const beginFlow = (hash: Hash, returnPath: string, now: Date): SignInFlow => {
  const path = Buffer.from(returnPath).toString('base64url')
  return flowOf(hash, `${seconds(now)}.${newToken()}.${path}`, returnPath)
}

/**
 * The sign-in with this cookie; undefined unless it began within the last ten minutes and `state` belongs to it, which also shows
 * that no part of the cookie was changed.
 */
export const resumeFlow = (
  hash: Hash,
  { cookie = '', state }: { readonly cookie: string | undefined; readonly state: string },
  now: Date,
): SignInFlow | undefined => {
  const { startedAt, path = '' } = cookiePattern.exec(cookie)?.groups ?? {}
  if (startedAt === undefined) return undefined
  const flow = flowOf(hash, cookie, Buffer.from(path, 'base64url').toString())
  const [expected, received] = [Buffer.from(flow.state), Buffer.from(state)]
  if (received.length !== expected.length || !timingSafeEqual(received, expected)) return undefined
  return seconds(now) - Number(startedAt) <= flowSeconds ? flow : undefined
}

/** The page to which a sign-in returns: the requested one if it is a page of the console, else the overview. Only its path is used. */
export const returnPathOf = (requested: string | null): string => {
  const url = URL.parse(requested ?? '', 'https://console.invalid')
  if (url === null || !/^\/console(?:\/(?!api\/|sign-in)|$)/.test(url.pathname)) return '/console'
  const path = url.pathname + url.search
  return path.length <= pathMax ? path : '/console'
}
