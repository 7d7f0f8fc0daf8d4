import { readError, ShutterfleetError } from '#client/shutterfleet-error.js'
import { describeError } from '#cli/command/describe-error.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { serviceFetch } from './service-fetch.ts'

/** Bounds each request. */
const answerMs = 180_000
/** Bounds the end of the session, which an interrupt of the command does not stop. */
const signOutMs = 10_000

/** The gateway, and the token of a sign-in link for an operator, which the call uses up. */
type OperatorInterface = {
  readonly baseUrl: string
  readonly signInToken: string
  readonly stop: AbortSignal
  readonly note: (line: string) => void
}

type Request = {
  readonly method: 'POST' | 'DELETE'
  /** Below `/console/api`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Resolves with a successful response. Throws `ShutterfleetError`. */
const send = async (
  { baseUrl, stop }: Pick<OperatorInterface, 'baseUrl' | 'stop'>,
  { method, path, headers, body }: Request,
): Promise<Response> => {
  const response = await serviceFetch(stop)(`${baseUrl}/console/api${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(answerMs),
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw await readError(response)
  return response
}

/** The headers of requests in the new session. */
const signIn = async (at: OperatorInterface) => {
  try {
    const response = await send(at, { method: 'POST', path: '/session', body: { token: at.signInToken } })
    const session = (await response.json()) as { csrf_token: string }
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
    return { cookie, 'x-csrf-token': session.csrf_token }
  } catch (thrown) {
    if (!(thrown instanceof ShutterfleetError) || thrown.status !== 401) throw thrown
    const publicMessage = `${at.baseUrl} lets no operators sign in (SHUTTERFLEET_CONSOLE_OPERATORS): use the admin API (docs/administration.md)`
    throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, cause: thrown })
  }
}

/**
 * Posts to an operation of the administration that only the gateway can do, in a session of an operator that ends with the call.
 * `path` is that of the admin API. Throws `ShutterfleetError` if the service rejects the request.
 */
export const postAsOperator = async <T>(at: OperatorInterface, path: string, body: object): Promise<T> => {
  const headers = await signIn(at)
  try {
    const response = await send(at, { method: 'POST', path: `/operator${path}`, headers, body })
    return ((await response.json()) as { data: T }).data
  } finally {
    const stop = AbortSignal.timeout(signOutMs)
    await send({ ...at, stop }, { method: 'DELETE', path: '/session', headers }).catch((thrown: unknown) =>
      at.note(`the operator's session was not ended, it ends by itself: ${describeError(thrown)}`),
    )
  }
}
