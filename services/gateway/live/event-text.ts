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
