import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { type Call, type Endpoint, requestAt, requireSuccess } from './http-interface.ts'

/** The gateway, and the token of a sign-in link for an operator, which the call uses up. */
type OperatorInterface = {
  readonly baseUrl: string
  readonly signInToken: string
  readonly stop: AbortSignal
  readonly note: (line: string) => void
}

const signIn = async ({ baseUrl, signInToken, stop }: OperatorInterface): Promise<Endpoint> => {
  const url = `${baseUrl}/console/api`
  const body = { token: signInToken }
  const response = await requestAt({ url, headers: {}, stop }, { method: 'POST', path: '/session', body })
  if (response.status === 401) {
    const publicMessage = `${baseUrl} lets no operators sign in (SHUTTERFLEET_CONSOLE_OPERATORS): use the admin API (docs/administration.md)`
    throw new AppError('SERVICE_UNAVAILABLE', { publicMessage })
  }
  const session = (await (await requireSuccess(response)).json()) as { csrf_token: string }
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
  return { url, headers: { cookie, 'x-csrf-token': session.csrf_token }, stop }
}

/** Bounds the end of the session, which an interrupt of the command does not stop. */
const signOutMs = 10_000

const signOut = async (session: Endpoint): Promise<void> => {
  const stop = AbortSignal.timeout(signOutMs)
  await requireSuccess(await requestAt({ ...session, stop }, { method: 'DELETE', path: '/session' }))
}

/**
 * Calls an operation of the administration that only the gateway can do, in a session of an operator that ends with the call.
 * `path` is that of the admin API. Throws `SERVICE_UNAVAILABLE` with the service's message if it rejects the request.
 */
export const callAsOperator = async <T>(at: OperatorInterface, call: Call): Promise<T> => {
  const session = await signIn(at)
  try {
    const response = await requireSuccess(await requestAt(session, { ...call, path: `/operator${call.path}` }))
    return ((await response.json()) as { data: T }).data
  } finally {
    await signOut(session).catch((thrown: unknown) =>
      at.note(`the operator's session was not ended, it ends by itself: ${toAppError(thrown).message}`),
    )
  }
}
