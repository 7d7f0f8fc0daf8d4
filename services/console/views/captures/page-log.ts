/** A request of a HAR, as far as it is shown. */
export type Request = {
  readonly startedDateTime: string
  readonly time: number
  readonly request: { readonly method: string; readonly url: string }
  readonly response: {
    readonly status: number
    readonly content: { readonly mimeType: string }
    readonly _transferSize: number
    readonly _error?: string
  }
  readonly _resourceType: string
  readonly comment?: string
}

/** The output `har`, as far as it is shown. */
export type Har = { readonly log: { readonly comment?: string; readonly entries: readonly Request[] } }

type Position = { readonly url?: string; readonly line?: number; readonly column?: number }

/** A message of the output `console`. */
export type Message = Position & {
  readonly source: string
  readonly level: 'verbose' | 'info' | 'warning' | 'error'
  readonly text: string
  readonly stack?: readonly (Position & { readonly function: string })[]
}

/** The output `console`. */
export type Messages = { readonly truncated: boolean; readonly messages: readonly Message[] }

/** Whether a request brought nothing that a page can use. */
export const isFailed = ({ response: { status, _error: error } }: Request): boolean =>
  error !== undefined || status >= 400

/** Where each request lies in the time of all, in thousandths. */
export const placesInTime = (
  requests: readonly Pick<Request, 'startedDateTime' | 'time'>[],
): readonly { readonly x: number; readonly width: number }[] => {
  const times = requests.map(({ startedDateTime, time }) => ({ beganAt: Date.parse(startedDateTime), time }))
  const firstAt = times.reduce((least, { beganAt }) => Math.min(least, beganAt), Infinity)
  const lengthMs = times.reduce((most, { beganAt, time }) => Math.max(most, beganAt - firstAt + time), 1)
  const share = (ms: number) => (ms / lengthMs) * 1000
  return times.map(({ beganAt, time }) => ({ x: share(beganAt - firstAt), width: Math.max(4, share(time)) }))
}

/** A position as editors write it, without an address if the page has none; '' if nothing is known. */
export const formatPosition = ({ url, line, column }: Position): string => [url, line, column].filter(Boolean).join(':')
