import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '#console/api/request.ts'
import { ErrorNotice, Loading } from '#console/components/state.tsx'

/** A view whose code is loaded when it is opened. */
export const lazyView = (load: () => Promise<ComponentType>): ComponentType => {
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
        setError(new ApiError({ code: 'OFFLINE', message: '', status: 0 }))
      }
    }
    useEffect(() => {
      if (!loaded) void open()
    }, [])
    if (View) return <View />
    return error ? <ErrorNotice error={error} onRetry={open} /> : <Loading />
  }
}
