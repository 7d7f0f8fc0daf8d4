import { useEffect, useRef } from 'preact/hooks'

/** Handlers of server-sent events by name, and `lost` for a stream that cannot be opened again. */
type Handlers = Readonly<Record<string, (content: unknown) => void>>

/** Between two attempts to open a stream that the server refused; others the browser reopens by itself. */
const retryMs = 5000
const attemptsMax = 12
const last = new Set(['result', 'deleted', 'unauthorized'])

type Stream = { readonly path: string; readonly names: readonly string[]; readonly receive: Receive }
type Receive = (name: string, content?: unknown) => void

/** Opens a stream, and returns a function that closes it. */
const openStream = ({ path, names, receive }: Stream): (() => void) => {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempts = 0
  const open = () => {
    attempts += 1
    const opened = new EventSource(path)
    source = opened
    for (const name of names)
      opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
        attempts = 0
        if (last.has(name)) opened.close()
        receive(name, JSON.parse(data))
      })
    opened.addEventListener('error', () => {
      if (opened.readyState !== EventSource.CLOSED) return
      if (attempts < attemptsMax) timer = setTimeout(open, retryMs)
      else receive('lost')
    })
  }
  open()
  return () => {
    clearTimeout(timer)
    source?.close()
  }
}

/** Subscribes to a stream of server-sent events while `path` is defined. */
export const useEvents = (path: string | undefined, handlers: Handlers): void => {
  const current = useRef(handlers)
  current.current = handlers
  useEffect(() => {
    if (path === undefined) return undefined
    const names = Object.keys(current.current).filter((name) => name !== 'lost')
    return openStream({ path, names, receive: (name, content) => current.current[name]?.(content) })
  }, [path])
}
