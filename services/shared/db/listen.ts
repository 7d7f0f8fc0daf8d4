import { setTimeout as pause } from 'node:timers/promises'

const againMs = 1000

/** A subscription to a channel of PostgreSQL, which stores no notification: subscribers poll too, now and then. */
export type Listening = Disposable & {
  /** Whether notifications arrive: one has on this connection. A pooler that shares sessions lets none through. */
  readonly isListening: () => boolean
}

/** The part of the driver's client that is used here. */
type Client = {
  readonly query: (
    statement: string | { name: string; text: string },
    parameters?: unknown[],
  ) => Promise<{ rows: unknown[] }>
  readonly on: (event: 'notification' | 'end', notified: () => void) => unknown
  readonly release: (broken?: boolean) => void
}

/** The part of the driver's pool that is used here. */
export type Pool = Pick<Client, 'query'> & { readonly connect: () => Promise<Client> }

/**
 * Listens to a channel in a session of its own, which it opens again a second after it was lost, until `stop` aborts. `notified`
 * is called for each notification, and each time the session was lost: some may have been missed. Never throws.
 */
export const keepListening = async (
  sessions: () => Promise<Pool>,
  channel: string,
  { stop, notified }: { readonly stop: AbortSignal; readonly notified: (isListening: boolean) => void },
): Promise<void> => {
  const listen = async () => {
    const own = await sessions()
    const client = await own.connect()
    const over = Promise.withResolvers<void>()
    client.on('end', over.resolve)
    stop.addEventListener('abort', () => over.resolve(), { once: true })
    client.on('notification', () => notified(true))
    try {
      // The session is idle by design, and would be ended for it.
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
    notified(false)
    await pause(againMs, undefined, { signal: stop }).catch(() => {})
  }
}
