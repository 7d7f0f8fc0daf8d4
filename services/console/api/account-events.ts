import type { Screenshot } from '#client/responses.js'
import { useQueryClient } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useEvents } from './events.ts'
import { useAttended } from './use-attended.ts'

/** Between two reads of a list because of events. */
const refreshMs = 5000
/** Between two reads of a list while there is no stream. */
const pollMs = 10_000

/** Whether the page is in a window that is shown: browsers open six connections to a host, which hidden ones leave alone. */
const useShown = (): boolean => {
  const [isShown, setIsShown] = useState(!document.hidden)
  useEffect(() => {
    const update = () => setIsShown(!document.hidden)
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isShown
}

/** Returns a function that reads queries again whose key begins with one of `prefixes`, every five seconds at most. */
export const useRefresh = (prefixes: readonly string[]) => {
  const client = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>()
  const readAt = useRef(-Infinity)
  const current = useRef(prefixes)
  current.current = prefixes
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined
        readAt.current = performance.now()
        const isMatch = (key: unknown) => current.current.some((prefix) => String(key).startsWith(prefix))
        void client.invalidateQueries({ predicate: ({ queryKey }) => isMatch(queryKey[0]) })
      },
      Math.max(0, readAt.current + refreshMs - performance.now()),
    )
  }
}

type Handlers = {
  /** A capture was accepted, began or ended; `refresh` reads the queries again. */
  readonly changed: (record: Screenshot, refresh: () => void) => void
  readonly deleted?: (id: string) => void
}

/**
 * Subscribes to the captures of the account while the page is used and shown. Reads the queries again whose key begins with one of
 * `prefixes` whenever changes may have been missed. Returns the interval at which they are to be read without a stream.
 */
export const useAccountEvents = (prefixes: readonly string[], { changed, deleted }: Handlers): number | false => {
  const isAttended = useAttended()
  const isShown = useShown()
  const [isLive, setIsLive] = useState(false)
  const refresh = useRefresh(prefixes)
  const change = (content: unknown) => changed(content as Screenshot, refresh)
  useEvents(
    isAttended && isShown ? '/v1/events' : undefined,
    {
      ready: () => {
        setIsLive(true)
        refresh()
      },
      accepted: change,
      started: change,
      ended: change,
      changed: refresh,
      deleted: (content) => deleted?.((content as { id: string }).id),
      interrupted: () => setIsLive(false),
    },
    { isEndless: true },
  )
  return isAttended && !isLive ? pollMs : false
}
