import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { ApiError, sendRequest } from '#console/api/request.ts'
import { isOperator, type Session, sessionPath } from '#console/api/session.tsx'
import { CopyButton } from '#console/components/copy-field.tsx'
import { ErrorNotice, Loading } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { ProviderSignIn, useProvider } from './provider-sign-in.tsx'

/** Takes the token from the address, which then no longer shows it. */
const takeToken = (): string | undefined => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search)
  return token
}

type State = 'checking' | 'noLink' | 'usedLink' | 'ended' | 'signedOut' | Error

const initialState = (hasToken: boolean, hadSession: boolean): State => {
  if (hasToken) return 'checking'
  if (new URLSearchParams(location.search).has('signed-out')) return 'signedOut'
  return hadSession ? 'ended' : 'noLink'
}

const stateAfter = (error: Error): State => (error instanceof ApiError && error.status === 401 ? 'usedLink' : error)

type WithoutLink = Exclude<State, Error | 'checking'>

const LinkCommand = () => (
  <>
    <div class="command">
      <code>{texts.signIn.command}</code>
      <CopyButton text={texts.signIn.command} />
    </div>
    <p class="muted">{texts.signIn.noLinkOperator}</p>
  </>
)

/** Says how to sign in: with the provider, if there is one, or by a link. */
const WaysIn = ({ state }: { state: WithoutLink }) => {
  const { isLoading, provider } = useProvider()
  if (isLoading) return <Loading />
  if (!provider)
    return (
      <>
        <h1>{texts.signIn[state]}</h1>
        <p>{texts.signIn[`${state}Text`]}</p>
        <LinkCommand />
      </>
    )
  return (
    <>
      <h1>{state === 'noLink' ? texts.signIn.title : texts.signIn[state]}</h1>
      <ProviderSignIn name={provider.name} />
      <details>
        <summary>{texts.signIn.byLink}</summary>
        <p>{texts.signIn.noLinkText}</p>
        <LinkCommand />
      </details>
    </>
  )
}

/** Signs in by the single-use token in the fragment of the address, which no server has seen; else says where to get a link. */
export const SignIn = ({ hadSession }: { hadSession: boolean }) => {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const [token] = useState(takeToken)
  const [state, setState] = useState(() => initialState(token !== undefined, hadSession))
  const signIn = async () => {
    setState('checking')
    try {
      const session = await sendRequest<Session>(sessionPath, { method: 'POST', body: { token } })
      client.setQueryData([sessionPath], session)
      navigate(isOperator(session) ? '/health' : '/', { replace: true })
    } catch (error) {
      setState(stateAfter(error as Error))
    }
  }
  useEffect(() => {
    document.title = `${texts.signIn.title} · ${texts.product}`
    if (token !== undefined) void signIn()
    // Another link that is opened here changes only the fragment. It is empty if this page has taken the token already.
    const reload = () => {
      if (location.hash !== '') location.reload()
    }
    addEventListener('hashchange', reload)
    return () => removeEventListener('hashchange', reload)
  }, [])
  return (
    <main class="sign-in">
      <div class="brand">
        <span class="mark" aria-hidden="true" />
        {texts.product}
      </div>
      {state === 'checking' && (
        <>
          <h1>{texts.signIn.checking}</h1>
          <Loading />
        </>
      )}
      {state instanceof Error && (
        <>
          <h1>{texts.signIn.title}</h1>
          <ErrorNotice title={texts.signIn.failed} error={state} onRetry={signIn} />
        </>
      )}
      {typeof state === 'string' && state !== 'checking' && <WaysIn state={state} />}
    </main>
  )
}
