import { useEffect, useRef } from 'preact/hooks'
import { servedPath } from './base-path.ts'

/** Handlers of server-sent events by name, `interrupted` for a lost connection, and `lost` for a stream that cannot be opened again. */
type Handlers = Readonly<Record<string, (content: unknown) => void>>
const ownNames = ['interrupted', 'lost']

/** Between two attempts to open a stream that the server refused; others the browser reopens by itself. */
const retryMs = 5000
const attemptsMax = 12
const lastNames = ['result', 'deleted', 'unauthorized']
const lastOfEndless = ['unauthorized']

type Stream = {
  readonly path: string
  readonly names: readonly string[]
  /** Those that end the stream. */
  readonly last: readonly string[]
  readonly receive: Receive
}
type Receive = (name: string, content?: unknown) => void

/** Opens a stream, and returns a function that closes it. */
const openStream = ({ path, names, last, receive }: Stream): (() => void) => {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let attempts = 0
  const open = () => {
    attempts += 1
    const opened = new EventSource(servedPath(path))
    source = opened
    for (const name of names)
      opened.addEventListener(name, ({ data }: MessageEvent<string>) => {
        attempts = 0
        if (last.includes(name)) opened.close()
        receive(name, JSON.parse(data))
      })
    opened.addEventListener('error', () => {
      receive('interrupted')
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

/** Subscribes to a stream of server-sent events while `path` is defined. An endless one goes on after `deleted`. */
export const useEvents = (path: string | undefined, handlers: Handlers, { isEndless = false } = {}): void => {
  const current = useRef(handlers)
  current.current = handlers
  useEffect(() => {
    if (path === undefined) return undefined
    const names = Object.keys(current.current).filter((name) => !ownNames.includes(name))
    const last = isEndless ? lastOfEndless : lastNames
    return openStream({ path, names, last, receive: (name, content) => current.current[name]?.(content) })
  }, [path, isEndless])
}
