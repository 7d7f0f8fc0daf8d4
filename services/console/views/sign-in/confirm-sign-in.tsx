import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { servedPath } from '#console/api/base-path.ts'
import { ApiError, sendRequest } from '#console/api/request.ts'
import { isOperator, type Session, sessionPath } from '#console/api/session.tsx'
import { ErrorNotice, Loading } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'

type Identity = Pick<Session, 'account' | 'role' | 'email'>

/** Whom a link signs in. `replaces`: the sign-in ends the session of this browser. */
type Link = Identity & { readonly replaces: boolean }

/** The link, and who is signed in. */
type Found = { readonly link: Link; readonly session: Session | undefined }

const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.status === 401

const findSession = async (): Promise<Session | undefined> => {
  try {
    return await sendRequest<Session>(sessionPath)
  } catch (error) {
    if (isUnauthorized(error)) return undefined
    throw error
  }
}

const find = async (token: string): Promise<Found> => {
  const [link, session] = await Promise.all([
    sendRequest<Link>('/console/api/sign-in', { method: 'POST', body: { token } }),
    findSession(),
  ])
  return { link, session }
}

/** Signs in. A session of another cell than the link's, which cannot end it, is ended first. */
const signIn = async (token: string, { link, session }: Found): Promise<Session> => {
  const csrfToken = session?.csrf_token
  if (session && !link.replaces) await sendRequest(sessionPath, { method: 'DELETE', csrfToken })
  return await sendRequest<Session>(sessionPath, { method: 'POST', body: { token }, csrfToken })
}

/** The page that a return from the provider leads to, below `/console`; undefined: none in particular. */
const requestedPage = (): string | undefined =>
  /^\/console(?<page>\/.*)?$/.exec(new URLSearchParams(location.search).get('to') ?? '')?.groups?.['page']

const nameOf = ({ account, role }: Identity): string => account?.name ?? texts.shell.roles[role]

const Who = ({ title, identity }: { title: string; identity: Identity }) => (
  <p>
    {title}
    <br />
    <strong>{nameOf(identity)}</strong>
    <br />
    <span class="muted">{[identity.email, texts.shell.roles[identity.role]].filter(Boolean).join(' · ')}</span>
  </p>
)

const Question = ({ found, onConfirm }: { found: Found; onConfirm: () => void }) => {
  const { link, session } = found
  const words = texts.signIn.confirm
  return (
    <>
      <h1>{session ? words.titleInstead : texts.signIn.title}</h1>
      {session && <Who title={words.current} identity={session} />}
      <Who title={words.link} identity={link} />
      <p class="muted">{words.trust}</p>
      <button type="button" class="button primary" onClick={onConfirm}>
        {words.submit(nameOf(link))}
      </button>
      {session && (
        <a class="button" href={servedPath('/console/')}>
          {words.stay(nameOf(session))}
        </a>
      )}
    </>
  )
}

/**
 * Signs in by the token of a link once a person has confirmed it: pages of others open links too. Names whom the link signs in, and whose
 * session ends.
 */
export const ConfirmSignIn = ({ token, onUsed }: { token: string; onUsed: () => void }) => {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const [found, setFound] = useState<Found>()
  const [error, setError] = useState<Error>()
  const [isBusy, setIsBusy] = useState(true)
  const attempt = async (work: () => Promise<void>) => {
    setIsBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (thrown) {
      if (isUnauthorized(thrown)) onUsed()
      else setError(thrown as Error)
    } finally {
      setIsBusy(false)
    }
  }
  const load = () => attempt(async () => setFound(await find(token)))
  const confirm = () =>
    attempt(async () => {
      if (!found) return
      const session = await signIn(token, found)
      client.setQueryData([sessionPath], session)
      navigate(requestedPage() ?? (isOperator(session) ? '/health' : '/'), { replace: true })
    })
  useEffect(() => void load(), [])
  if (error)
    return (
      <>
        <h1>{texts.signIn.title}</h1>
        <ErrorNotice title={texts.signIn.failed} error={error} onRetry={load} />
      </>
    )
  if (isBusy || !found)
    return (
      <>
        <h1>{texts.signIn.checking}</h1>
        <Loading />
      </>
    )
  return <Question found={found} onConfirm={() => void confirm()} />
}
