import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client'
import type { Client } from '#shared/policy/client.ts'
import { clientHolders, Shares } from '#shared/policy/shares.ts'
import type { OperatorRole } from '#shared/db/sign-in-links.ts'
import { readBody } from '#shared/config/read-body.ts'
import { type OperatorClaim, operatorRoleOf } from './operator-role.ts'
import { SignInError } from './sign-in-error.ts'
import type { SignInFlow } from './sign-in-flow.ts'

/** How long what the provider publishes about itself is used. Its signing keys are read again when an unknown one appears. */
const configurationMs = 3_600_000
/** Pause after a failed read of it. */
const retryMs = 5000
/** Time limit of one request to the provider, of which a sign-in makes at most four. */
const requestSeconds = 5
/** Largest response of the provider; a discovery document has some 5 kB. */
const bodyBytesMax = 1024 * 1024
/** Sign-ins that wait for the provider at a time in one gateway; a client gets a share. */
const exchangesMax = 100

/** A person as the provider identifies them, by `issuer` and `subject`. */
export type Person = {
  readonly issuer: string
  readonly subject: string
  /** In lower case; null unless the provider has verified it. */
  readonly verifiedEmail: string | null
  /** Null: no operator of the installation. */
  readonly operatorRole: OperatorRole | null
}

/** Settings of the provider. */
export type OidcSettings = {
  readonly issuer: string
  readonly clientId: string
  /** '': a public client. */
  readonly clientSecret: string
  /** Besides `openid`. */
  readonly scopes: readonly string[]
  readonly operators: OperatorClaim
  readonly nowMs: () => number
}

const readBounded = async (response: Response): Promise<Response> => {
  const body = await readBody(response, bodyBytesMax)
  return new Response(body.length === 0 ? null : new Uint8Array(body), response)
}

/** By the header unless the provider lists only the other way (OpenID Connect Core §9). */
const secretAuth =
  (secret: string): ClientAuth =>
  (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const auth = methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret)
    auth(server, ...rest)
  }

const isUnreachable = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ClientError && error.code === 'OAUTH_TIMEOUT')

/** `AuthorizationResponseError`: the provider sent the person back with an error. */
const toSignInError = (error: unknown): SignInError => {
  if (error instanceof SignInError) return error
  if (error instanceof AuthorizationResponseError) return new SignInError('refused', error.message, error)
  if (isUnreachable(error)) return unreachable(error)
  return new SignInError('failed', 'the response of the OpenID Connect provider is invalid', error)
}

const unreachable = (cause: unknown) =>
  new SignInError('provider', 'the OpenID Connect provider cannot be reached', cause)

/** The OpenID Connect provider of this installation. It is first contacted by the first sign-in, so the gateway starts without it. */
export class OidcProvider {
  readonly #settings: OidcSettings
  #configuration: Configuration | undefined
  #reading: Promise<void> | undefined
  #readAgainAtMs = Number.NEGATIVE_INFINITY
  #lastError: unknown
  readonly #exchanges = new Shares(exchangesMax)

  constructor(settings: OidcSettings) {
    this.#settings = settings
  }

  /** The address at the provider that a sign-in continues at. Throws `SignInError` if the provider is unavailable. */
  async authorizationUrl(flow: SignInFlow, redirectUri: string): Promise<string> {
    const configuration = await this.#current()
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: ['openid', ...this.#settings.scopes].join(' '),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    })
    return url.href
  }

  /** Identifies the person whom the provider sent back to `callback`. Throws `SignInError`. */
  async identify(flow: SignInFlow, callback: URL, client: Client): Promise<Person> {
    const place = this.#exchanges.take(1, clientHolders(client))
    if (typeof place === 'string') throw new SignInError('busy', `too many sign-ins of ${place} are in progress`)
    using _held = place
    try {
      return await this.#exchange(flow, callback)
    } catch (error) {
      throw toSignInError(error)
    }
  }

  async #exchange(flow: SignInFlow, callback: URL): Promise<Person> {
    const configuration = await this.#current()
    const tokens = await authorizationCodeGrant(configuration, callback, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
    })
    const idToken = tokens.claims()
    if (!idToken) throw new SignInError('failed', 'the OpenID Connect provider sent no ID token')
    const { iss: issuer, sub: subject } = idToken
    const { operators } = this.#settings
    const lacks = (claim: string) => claim !== '' && idToken[claim] === undefined
    const readUserInfo = async () =>
      configuration.serverMetadata().userinfo_endpoint === undefined
        ? undefined
        : await fetchUserInfo(configuration, tokens.access_token, subject)
    // Members without the operators' claim sign in without what only that would need.
    const readClaim = () => (lacks(operators.claim) ? readUserInfo().catch(() => undefined) : undefined)
    const userInfo = await (lacks('email') ? readUserInfo() : readClaim())
    // An address and whether it is verified are of the same source.
    const { email, email_verified: isVerified } = idToken['email'] === undefined && userInfo ? userInfo : idToken
    // PostgreSQL stores no such text.
    if ([subject, email].some((claim) => typeof claim === 'string' && claim.includes('\0')))
      throw new SignInError('failed', 'the subject or email address of the person contains U+0000')
    return {
      issuer,
      subject,
      verifiedEmail: typeof email === 'string' && isVerified === true ? email.toLowerCase() : null,
      operatorRole:
        operators.claim === ''
          ? null
          : operatorRoleOf(idToken[operators.claim] ?? userInfo?.[operators.claim], operators),
    }
  }

  /** What the provider publishes about itself; after a failed read the previous state, if there is one. */
  async #current(): Promise<Configuration> {
    if (this.#settings.nowMs() >= this.#readAgainAtMs) {
      this.#reading ??= this.#read()
      await this.#reading
    }
    if (this.#configuration) return this.#configuration
    throw unreachable(this.#lastError)
  }

  async #read(): Promise<void> {
    const { issuer, clientId, clientSecret, nowMs } = this.#settings
    try {
      this.#configuration = await discovery(
        new URL(issuer),
        clientId,
        undefined,
        clientSecret === '' ? None() : secretAuth(clientSecret),
        {
          timeout: requestSeconds,
          [customFetch]: async (url, options) =>
            readBounded(await fetch(url, { ...options, body: options.body ?? null })),
          // oxlint-disable-next-line typescript/no-deprecated -- deprecated only as a warning; the setting allows it on this machine alone
          execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
        },
      )
      this.#readAgainAtMs = nowMs() + configurationMs
    } catch (error) {
      this.#lastError = error
      this.#readAgainAtMs = nowMs() + retryMs
    } finally {
      this.#reading = undefined
    }
  }
}
