import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '#console/components/copy-field.tsx'
import { Loading } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { ConfirmSignIn } from './confirm-sign-in.tsx'
import { ProviderSignIn, useProvider } from './provider-sign-in.tsx'

/** Takes the token from the address, which then no longer shows it. */
const takeToken = (): string | undefined => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? undefined
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search)
  return token
}

type State = 'link' | 'noLink' | 'usedLink' | 'ended' | 'signedOut'

const initialState = (hasToken: boolean, hadSession: boolean): State => {
  if (hasToken) return 'link'
  if (new URLSearchParams(location.search).has('signed-out')) return 'signedOut'
  return hadSession ? 'ended' : 'noLink'
}

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
const WaysIn = ({ state }: { state: Exclude<State, 'link'> }) => {
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
  const [token] = useState(takeToken)
  const [state, setState] = useState(() => initialState(token !== undefined, hadSession))
  useEffect(() => {
    document.title = `${texts.signIn.title} · ${texts.product}`
    // Another link that is opened here changes only the fragment. It is empty if this page has taken the token already.
    const reload = () => {
      if (location.hash !== '') location.reload()
    }
    addEventListener('hashchange', reload)
    // One that was opened between the first rendering and this effect.
    reload()
    return () => removeEventListener('hashchange', reload)
  }, [])
  return (
    <main class="sign-in">
      <div class="brand">
        <span class="mark" aria-hidden="true" />
        {texts.product}
      </div>
      {state === 'link' ? (
        <ConfirmSignIn token={token ?? ''} onUsed={() => setState('usedLink')} />
      ) : (
        <WaysIn state={state} />
      )}
    </main>
  )
}
