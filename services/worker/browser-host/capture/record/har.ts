import type { Protocol } from 'devtools-protocol'

/** Duration of a request's phases in milliseconds, -1 where there was none; HAR counts `ssl` within `connect`. */
export type HarTimings = Readonly<Record<'blocked' | 'dns' | 'connect' | 'send' | 'wait' | 'receive' | 'ssl', number>>

type Pair = { readonly name: string; readonly value: string }

/** A page of HAR 1.2: a document of the main frame. */
export type HarPage = {
  readonly startedDateTime: string
  readonly id: string
  readonly title: string
  readonly pageTimings: { onContentLoad: number; onLoad: number }
}

/** A request of HAR 1.2. Names that begin with an underscore are those of Chromium's developer tools. */
export type HarEntry = {
  readonly pageref?: string
  readonly startedDateTime: string
  readonly time: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly httpVersion: string
    readonly cookies: readonly []
    readonly headers: readonly Pair[]
    readonly queryString: readonly Pair[]
    readonly headersSize: -1
    readonly bodySize: 0 | -1
  }
  readonly response: {
    readonly status: number
    readonly statusText: string
    readonly httpVersion: string
    readonly cookies: readonly []
    readonly headers: readonly Pair[]
    readonly content: { readonly size: number; readonly mimeType: string }
    readonly redirectURL: string
    readonly headersSize: -1
    readonly bodySize: number
    readonly _transferSize: number
    /** Why there is no whole response, as `net::ERR_FAILED`. */
    readonly _error?: string
  }
  readonly cache: Readonly<Record<string, never>>
  readonly timings: HarTimings
  readonly _resourceType: string
  readonly comment?: string
}

/** When a request was issued, answered and ended, in seconds of one clock, and what the browser says of the time between. */
export type Moments = {
  readonly issuedAt: number
  readonly respondedAt?: number | undefined
  readonly endedAt: number
  readonly timing?: Protocol.Network.ResourceTiming | undefined
}

const milliseconds = (ms: number): number => Math.max(0, Math.round(ms * 1000) / 1000)

/** The first of offsets that are not missing, which Chromium reports as -1. */
const firstOf = (...offsets: readonly number[]): number => Math.min(Infinity, ...offsets.filter((each) => each >= 0))

const between = (from: number, to: number): number => (from >= 0 && to >= 0 ? milliseconds(to - from) : -1)

/** The timings of a request, as Chromium's developer tools compute them. */
export const harTimings = ({ issuedAt, respondedAt, endedAt, timing }: Moments): HarTimings => {
  const none = { blocked: -1, dns: -1, connect: -1, send: 0, wait: 0, receive: 0, ssl: -1 }
  if (respondedAt === undefined) return { ...none, blocked: milliseconds((endedAt - issuedAt) * 1000) }
  const receive = milliseconds((endedAt - respondedAt) * 1000)
  if (!timing) return { ...none, wait: milliseconds((respondedAt - issuedAt) * 1000), receive }
  const { requestTime, dnsStart, dnsEnd, connectStart, connectEnd, sslStart, sslEnd, sendStart, sendEnd } = timing
  const queued = Math.max(0, (requestTime - issuedAt) * 1000)
  const began = firstOf(dnsStart, connectStart, sendStart)
  return {
    blocked: milliseconds(queued + (began === Infinity ? 0 : began)),
    dns: between(dnsStart, dnsEnd),
    connect: between(connectStart, connectEnd),
    send: milliseconds(Math.max(0, sendEnd - sendStart)),
    wait: milliseconds((respondedAt - requestTime) * 1000 - Math.max(0, sendEnd)),
    receive,
    ssl: between(sslStart, sslEnd),
  }
}

/** HAR's `time`: the sum of the timings. */
export const totalMs = ({ ssl: _partOfConnect, ...timings }: HarTimings): number =>
  milliseconds(Object.values(timings).reduce((sum, each) => sum + Math.max(0, each), 0))
