import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { ApiError } from './api/request.ts'
import { type Session, SessionProvider, sessionPath } from './api/session.tsx'
import { ErrorNotice, Loading } from './components/state.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './views/sign-in/sign-in.tsx'

/** The console: the sign-in page without a session, else its views. */
export const App = () => {
  const [path] = useLocation()
  // Opened by a link: its token decides, not the session that the browser may still have.
  const [isLink] = useState(path === '/sign-in' && location.hash !== '')
  const query = useQuery<Session>({
    queryKey: [sessionPath],
    enabled: ({ state }) => !isLink || state.data !== undefined,
  })
  const isSignedOut = query.error instanceof ApiError && query.error.status === 401
  if (query.data && !isSignedOut)
    return (
      <SessionProvider session={query.data}>
        <Shell />
      </SessionProvider>
    )
  if (isLink || isSignedOut) return <SignIn hadSession={query.data !== undefined} />
  return (
    <main class="sign-in">
      {query.error ? <ErrorNotice error={query.error} onRetry={() => void query.refetch()} /> : <Loading />}
    </main>
  )
}
