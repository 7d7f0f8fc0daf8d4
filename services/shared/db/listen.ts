import { setTimeout as pause } from 'node:timers/promises'

const againMs = 1000

/** What the channel of PostgreSQL says; nothing of it is stored, so whoever hears looks for itself now and then. */
export type Listening = Disposable & {
  /** Whether what is told now would be heard: so it was once on this connection. A pooler that shares sessions lets nothing through. */
  readonly isHearing: () => boolean
}

/** The part of the driver's client that is used here. */
type Client = {
  readonly query: (statement: string) => Promise<unknown>
  readonly on: (event: 'notification' | 'end', heard: () => void) => unknown
  readonly release: (broken: boolean) => void
}

/** What gives a session to listen in, and tells a channel from another one. */
type Sessions = { readonly connect: () => Promise<Client>; readonly query: (statement: string) => Promise<unknown> }

/**
 * Listens to a channel in a session of its own, which it opens again a second after it was lost, until `stop` aborts. `heard`
 * is called for what is told, and each time it begins to listen: what was told before is not known. Never throws.
 */
export const keepListening = async (
  sessions: () => Promise<Sessions>,
  channel: string,
  { stop, heard }: { readonly stop: AbortSignal; readonly heard: (isHearing: boolean) => void },
): Promise<void> => {
  const listen = async () => {
    const own = await sessions()
    const client = await own.connect()
    const over = Promise.withResolvers<void>()
    client.on('end', over.resolve)
    stop.addEventListener('abort', () => over.resolve(), { once: true })
    client.on('notification', () => heard(true))
    try {
      // It says nothing by itself, and would be ended for it.
      await client.query('set idle_session_timeout = 0')
      await client.query(`listen ${channel}`)
      await own.query(`notify ${channel}`)
      if (!stop.aborted) await over.promise
    } finally {
      client.release(true)
    }
  }
  while (!stop.aborted) {
    await listen().catch(() => {})
    heard(false)
    await pause(againMs, undefined, { signal: stop }).catch(() => {})
  }
}
