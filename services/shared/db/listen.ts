import { setTimeout as delay } from 'node:timers/promises'

const reopenMs = 1000

/** A subscription to a PostgreSQL channel. Notifications are not stored, so subscribers must poll too. */
export type Listening = Disposable & {
  /** Whether a notification has arrived in the current session. A pooler that shares sessions delivers none. */
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
 * Listens to a channel in a separate session, reopened a second after it is lost, until `stop` aborts. Calls `notified` for
 * each notification, and each time the session is lost, since some may have been missed. Never throws.
 */
export const keepListening = async (
  sessions: () => Promise<Pool>,
  channel: string,
  { stop, notified }: { readonly stop: AbortSignal; readonly notified: (isListening: boolean) => void },
): Promise<void> => {
  const listen = async () => {
    const pool = await sessions()
    const client = await pool.connect()
    const ended = Promise.withResolvers<void>()
    client.on('end', ended.resolve)
    stop.addEventListener('abort', () => ended.resolve(), { once: true })
    client.on('notification', () => notified(true))
    try {
      // The session is idle by design; the idle time-out would end it.
      await client.query('set idle_session_timeout = 0')
      await client.query(`listen ${channel}`)
      await pool.query(`notify ${channel}`)
      if (!stop.aborted) await ended.promise
    } finally {
      client.release(true)
    }
  }
  while (!stop.aborted) {
    await listen().catch(() => {})
    notified(false)
    await delay(reopenMs, undefined, { signal: stop }).catch(() => {})
  }
}
