import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import type { Role } from './records.ts'
import { type ApiRequest, sendRequest } from './request.ts'

/** Who is signed in. Session cookie and CSRF token belong together. */
export type Session = {
  readonly csrf_token: string
  /** Of an operator the account that is viewed; null: none. */
  readonly account: { readonly id: string; readonly name: string; readonly plan: string } | null
  readonly role: Role
  /** Of the member; null if an operator gave the link. */
  readonly email: string | null
  readonly created_at: string
  readonly expires_at: string
  readonly idle_expires_at: string
}

/** Path of the session that the cookie identifies. */
export const sessionPath = '/console/api/session'

const SessionContext = createContext<Session | undefined>(undefined)

/** Provides the session to the views below. */
export const SessionProvider = ({ session, children }: { session: Session; children: ComponentChildren }) => (
  <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
)

/** The current session. Throws outside of `SessionProvider`. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (!session) throw new Error('no session')
  return session
}

/** Whether the session is an operator's. */
export const isOperator = ({ role }: Pick<Session, 'role'>): boolean => role.startsWith('operator')

/** Whether the session may change what belongs to the account; an operator only looks into it. */
export const useMayChange = (): boolean => ['owner', 'member'].includes(useSession().role)

/** Sends requests as the current session. */
export type Api = <Answer>(path: string, request?: ApiRequest) => Promise<Answer>

/** Returns the function that sends requests as the current session. */
export const useApi = (): Api => {
  const { csrf_token: csrfToken } = useSession()
  return useMemo(
    () =>
      <Answer,>(path: string, request: ApiRequest = {}) =>
        sendRequest<Answer>(path, { ...request, csrfToken }),
    [csrfToken],
  )
}
