import { Readable } from 'node:stream'

/** What a stream is made of: texts, produced one at a time and only while the client takes them. */
export type EventTexts = (gone: AbortSignal) => AsyncGenerator<string, void>

/**
 * Makes a stream of texts that never holds more than one of them: what changes meanwhile is read when the client takes it. It is
 * broken off after `boundMs`, for a client that takes nothing. `release` is called once, as soon as the stream has ended
 * or its client is gone, whatever `streamTexts` still waits for.
 */
export const eventStream = (streamTexts: EventTexts, boundMs: number, release: () => void): Readable => {
  const gone = new AbortController()
  const texts = streamTexts(gone.signal)
  const pull = async () => {
    try {
      const { done, value } = await texts.next()
      stream.push(done === true ? null : value)
    } catch (error) {
      stream.destroy(error as Error)
    }
  }
  /** Whatever it still waits for ends soon; nobody waits for its result. */
  const leave = async () => {
    await texts.return().catch(() => undefined)
  }
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      void pull()
    },
    destroy(error, done) {
      clearTimeout(timer)
      gone.abort()
      release()
      void leave()
      done(error)
    },
  })
  const timer = setTimeout(() => stream.destroy(), boundMs)
  return stream
}

/** One event as the standard's text. `id` comes back as `Last-Event-ID` where a client connects again; without one the id of the event before does. */
export const eventText = ({
  name,
  id,
  data,
}: {
  readonly name: string
  readonly id?: string
  readonly data: object
}): string => `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** A line that clients skip: it keeps the connection alive, or explains to people why a stream ends. */
export const commentText = (comment: string): string => `: ${comment}\n\n`

/** How long a client waits before it connects again, in milliseconds. */
export const retryText = (ms: number): string => `retry: ${ms}\n\n`

/** Id of the last event: a client that has seen it and connects again has seen all of it. */
export const lastId = 'result'
