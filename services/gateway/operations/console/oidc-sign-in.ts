import { AppError } from '#shared/errors/app-error.ts'
import { linkMember, linkOperator } from '#gateway/db/sessions.ts'
import type { Context } from '#gateway/context/context.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { readCookie, writeCookie } from '#gateway/http/identification/secure-cookie.ts'
import { takeFrom } from '#gateway/http/identification/sessions.ts'
import { publicPath } from '#gateway/http/public-path.ts'
import { SignInError } from '#gateway/oidc/sign-in-error.ts'
import { beginFlow, flowSeconds, resumeFlow, returnPathOf, type SignInFlow } from '#gateway/oidc/sign-in-flow.ts'
import type { Served } from '#gateway/operations/operation.ts'

/** Name of the cookie of a sign-in in progress; `__Host-` precedes it behind TLS. */
const cookieName = 'shutterfleet_sign_in'

const redirectUri = (publicUrl: string) => `${publicUrl}/console/sign-in/oidc/callback`

const redirectTo = (location: string, setCookie?: string): Answer => ({
  status: 303,
  headers: {
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...(setCookie !== undefined && { 'set-cookie': setCookie }),
  },
})

const requireOidc = ({ oidc }: Context) => {
  if (oidc) return oidc
  throw new AppError('NOT_FOUND', { publicMessage: 'Sign-in with a provider is not set up.' })
}

const toSignInError = (error: unknown): SignInError => {
  if (error instanceof SignInError) return error
  const isBusy = error instanceof AppError && ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'].includes(error.code)
  if (isBusy) return new SignInError('busy', error.message)
  throw error
}

/** Errors lead back to the sign-in page, which says what to do. */
const orSignInPage = async (context: Context, exchange: Exchange, work: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await work()
  } catch (thrown) {
    const error = toSignInError(thrown)
    context.events.providerSignInFailed(error)
    await context.signInFailures.note({ how: 'provider', reason: error.reason, client: context.clients.find(exchange) })
    return redirectTo(`${publicPath(context.publicUrl())}/console/sign-in?error=${error.reason}`)
  }
}

const showOptions: Served = {
  name: 'console_sign_in_options',
  method: 'GET',
  path: '/api/sign-in',
  access: 'open',
  run: async ({ oidc }) => ({ status: 200, body: { provider: oidc ? { name: oidc.name } : null } }),
}

const start: Served = {
  name: 'console_oidc_start',
  method: 'GET',
  path: '/sign-in/oidc',
  access: 'open',
  run: (context, exchange) => {
    const { provider } = requireOidc(context)
    return orSignInPage(context, exchange, async () => {
      const { hashKey, now, publicUrl } = context
      const flow = beginFlow(hashKey, returnPathOf(new URLSearchParams(exchange.query).get('to')), now())
      const location = await provider.authorizationUrl(flow, redirectUri(publicUrl()))
      const cookie = { name: cookieName, value: flow.cookie, maxAgeSeconds: flowSeconds }
      return redirectTo(location, writeCookie(cookie, publicUrl()))
    })
  },
}

/** The sign-in that this browser started. Throws `SignInError`. */
const requireFlow = ({ hashKey, now, publicUrl }: Context, { headers, query }: Exchange): SignInFlow => {
  const cookie = readCookie(headers, cookieName, publicUrl())
  const flow = resumeFlow(hashKey, { cookie, state: new URLSearchParams(query).get('state') ?? '' }, now())
  if (flow) return flow
  throw new SignInError('expired', 'this browser started no sign-in with this state within ten minutes')
}

/** Makes the link by which the person signs in. Returns its token; throws `SignInError`. */
const linkFor = async (context: Context, exchange: Exchange, flow: SignInFlow): Promise<string> => {
  const { database, hashKey, publicUrl, clients } = context
  const { provider, bindsByEmail } = requireOidc(context)
  const client = clients.find(exchange)
  const person = await provider.identify(flow, new URL(`${redirectUri(publicUrl())}?${exchange.query}`), client)
  const email = bindsByEmail ? person.verifiedEmail : null
  const { issuer, subject, operatorRole: role } = person
  const identified = { issuer, subject, signInHash: hashKey(flow.state), signInSeconds: flowSeconds }
  const link =
    role === null
      ? await linkMember(database, hashKey, { ...identified, email })
      : await linkOperator(database, hashKey, { ...identified, role })
  if (link === 'used') throw new SignInError('expired', 'the sign-in was used before')
  if (link !== 'no_account') return link.token
  const isUnverified = bindsByEmail && email === null
  throw new SignInError(
    isUnverified ? 'unverified' : 'no_account',
    `the subject ${person.subject} is a member of no account`,
  )
}

const finish: Served = {
  name: 'console_oidc_callback',
  method: 'GET',
  path: '/sign-in/oidc/callback',
  access: 'open',
  run: (context, exchange) =>
    orSignInPage(context, exchange, async () => {
      const { sessions, events, clients, publicUrl } = context
      const client = clients.find(exchange)
      const flow = requireFlow(context, exchange)
      takeFrom(sessions.signInLimit, client)
      const token = await linkFor(context, exchange, flow)
      sessions.signInLimit.giveBack(client)
      events.signedInByProvider()
      // Nobody is signed in by a navigation, which pages of others cause too: a click on this page does it.
      const query = new URLSearchParams({ to: flow.returnPath }).toString()
      return redirectTo(`${publicPath(publicUrl())}/console/sign-in?${query}#token=${token}`)
    }),
}

/** Sign in with the OpenID Connect provider: whether there is one, start, and return from it. Paths are below `/console`. */
export const oidcOperations: readonly Served[] = [showOptions, start, finish]
