import { servedPath } from '#console/api/base-path.ts'
import { useQuery } from '@tanstack/preact-query'
import { Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'

type Options = { readonly provider: { readonly name: string } | null }

/** The provider of this installation; null if there is none, or if the server does not say so. */
export const useProvider = (): { readonly isLoading: boolean; readonly provider: Options['provider'] } => {
  const { data, isPending } = useQuery<Options>({ queryKey: ['/console/api/sign-in'] })
  return { isLoading: isPending, provider: data?.provider ?? null }
}

type Failure = keyof typeof texts.signIn.failures

/** Why the last attempt failed, and what to do, from the address. */
const failureIn = (search: string) => {
  const reason = new URLSearchParams(search).get('error') ?? ''
  return Object.hasOwn(texts.signIn.failures, reason) ? texts.signIn.failures[reason as Failure] : undefined
}

/** The page to return to: the one that was asked for. */
const returnPath = () => {
  const path = location.pathname.slice(servedPath('').length)
  return path === '/console/sign-in' ? '/console' : path + location.search
}

/** The button that leads to the provider, and what became of the last attempt. */
export const ProviderSignIn = ({ name }: { name: string }) => {
  const failure = failureIn(location.search)
  return (
    <>
      {failure && (
        <Notice tone="error" title={failure.title}>
          {failure.text(name)}
        </Notice>
      )}
      <a class="button primary" href={servedPath(`/console/sign-in/oidc?${new URLSearchParams({ to: returnPath() })}`)}>
        {texts.signIn.with(name)}
      </a>
    </>
  )
}
