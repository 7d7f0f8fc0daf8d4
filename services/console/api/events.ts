import { useEffect, useRef } from 'preact/hooks'

/** Handlers of server-sent events by name. */
type Handlers = Readonly<Record<string, (content: unknown) => void>>

/**
 * Subscribes to a stream of server-sent events while `path` is defined. The browser reconnects by itself; the server ends a
 * finished stream with 204, after which it does not.
 */
export const useEvents = (path: string | undefined, handlers: Handlers): void => {
  const current = useRef(handlers)
  current.current = handlers
  useEffect(() => {
    if (path === undefined) return undefined
    const source = new EventSource(path)
    for (const name of Object.keys(current.current))
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        if (name === 'result' || name === 'deleted' || name === 'unauthorized') source.close()
        current.current[name]?.(JSON.parse(data))
      })
    return () => source.close()
  }, [path])
}
