import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { offlineError } from '#console/api/request.ts'
import { Page } from '#console/components/page.tsx'
import { ErrorNotice, Loading } from '#console/components/state.tsx'

/** A view whose code is loaded when it is opened, under its title. Without a connection, as soon as there is one. */
export const lazyView = (title: string, load: () => Promise<ComponentType>): ComponentType => {
  let loaded: ComponentType | undefined
  return function LazyView() {
    const [View, setView] = useState<ComponentType | undefined>(() => loaded)
    const [error, setError] = useState<Error>()
    const open = async () => {
      setError(undefined)
      try {
        loaded = await load()
        setView(() => loaded)
      } catch {
        setError(offlineError())
      }
    }
    useEffect(() => {
      if (!loaded) void open()
    }, [])
    useEffect(() => {
      if (error) addEventListener('online', open)
      return () => removeEventListener('online', open)
    }, [error])
    if (View) return <View />
    return <Page title={title}>{error ? <ErrorNotice error={error} onRetry={open} /> : <Loading />}</Page>
  }
}
