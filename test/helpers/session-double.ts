import { EventEmitter } from 'node:events'
import type { Session } from '#worker/browser-host/browser/connection.ts'

/** What a test decides about a session; every event that it emits reaches the session's listeners. */
type SessionParts = {
  /** Answers each command; without it none is expected. */
  readonly send?: (method: string, parameters: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly isOpen?: () => boolean
  readonly events?: EventEmitter
}

/** A session with a page that does not exist. */
export const createSessionDouble = ({
  send,
  isOpen = () => true,
  events = new EventEmitter(),
}: SessionParts): Session => {
  const answer = async (method: string, parameters: object = {}): Promise<unknown> => {
    if (!send) throw new Error(`unexpected command: ${method}`)
    return send(method, { ...parameters })
  }
  return {
    id: 'session',
    send: answer as Session['send'],
    on: (event, listener) => void events.on(event, listener),
    isOpen,
    closed: new Promise(() => {}),
  }
}
