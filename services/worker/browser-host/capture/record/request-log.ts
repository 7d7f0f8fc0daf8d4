import type { Protocol } from 'devtools-protocol'
import { mask } from '#shared/capture/mask-url.ts'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import { type HarEntry, type HarPage, harTimings, totalMs } from './har.ts'
import type { Redactor } from './redactor.ts'

/** Most requests and pages that are recorded; with the bounds of their texts some 4 MB at the usual sizes. */
const requestsMax = 2000
const pagesMax = 20

const [headersMax, headerCharactersMax, textMax] = [60, 500, 200]

/** Headers whose values are no secrets of anybody, addresses in them aside; of all others the name alone is recorded. */
const readableHeaders = new Set(
  `accept accept-ranges access-control-allow-credentials access-control-allow-headers access-control-allow-methods
  access-control-allow-origin age alt-svc cache-control cf-cache-status connection content-encoding content-language content-length
  content-security-policy content-security-policy-report-only content-type cross-origin-embedder-policy
  cross-origin-opener-policy cross-origin-resource-policy date expires keep-alive last-modified permissions-policy pragma
  priority purpose referer referrer-policy retry-after sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-purpose server
  strict-transport-security timing-allow-origin transfer-encoding upgrade-insecure-requests user-agent vary via x-cache
  x-content-type-options x-frame-options x-robots-tag`.split(/\s+/),
)

type Recorded = {
  readonly pageref: string | undefined
  readonly wallTime: number
  /** In seconds of the browser's clock; undefined until it is reported. */
  issuedAt: number | undefined
  readonly method: string
  readonly address: string
  readonly host: string
  readonly requestHeaders: HarEntry['request']['headers']
  readonly hasBody: boolean
  readonly kind: string
  response?: {
    readonly status: number
    readonly statusText: string
    readonly protocol: string
    readonly headers: HarEntry['response']['headers']
    readonly headerBytes: number
    readonly mimeType: string
    readonly timing: Protocol.Network.ResourceTiming | undefined
    readonly respondedAt: number
  }
  redirectURL: string
  bodyBytes: number
  transferredBytes: number
  endedAt: number | undefined
  error: string | undefined
}

type Sent = {
  readonly request: Pick<Protocol.Network.Request, 'method' | 'url' | 'headers' | 'hasPostData'>
  readonly wallTime: number
  readonly timestamp: number | undefined
  readonly type: Protocol.Network.ResourceType | undefined
}

type Received = Pick<
  Protocol.Network.Response,
  'status' | 'statusText' | 'headers' | 'mimeType' | 'timing' | 'encodedDataLength' | 'protocol'
>

/** Why a request has failed, in words, beyond the browser's error; undefined if nothing else is known. */
export type ExplainFailure = (host: string, error: string) => string | undefined

/** Requests of a page in the order of their start, without bodies and secrets; bounded. */
export class RequestLog {
  readonly #redactor: Redactor
  readonly #mainFrameId: string
  readonly #requests: Recorded[] = []
  readonly #open = new Map<string, Recorded>()
  readonly #pages: (HarPage & { readonly loaderId: string; readonly issuedAt: number })[] = []
  #omitted = 0

  constructor(redactor: Redactor, mainFrameId: string) {
    this.#redactor = redactor
    this.#mainFrameId = mainFrameId
  }

  /** Records the requests of a session whose `Network` events are enabled. A request may be reported by two sessions, in part by each. */
  watch(session: Session): void {
    session.on('Network.requestWillBeSent', (sent) => this.#begin(sent))
    session.on('Network.responseReceived', ({ requestId, response, timestamp }) =>
      this.#respond(this.#open.get(requestId), response, timestamp),
    )
    session.on('Network.dataReceived', ({ requestId, dataLength }) => {
      const request = this.#open.get(requestId)
      if (request) request.bodyBytes += dataLength
    })
    session.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) =>
      this.#end(requestId, timestamp, { transferredBytes: Math.max(0, encodedDataLength) }),
    )
    session.on('Network.loadingFailed', ({ requestId, timestamp, errorText, blockedReason, corsErrorStatus }) => {
      const reason = corsErrorStatus?.corsError ?? blockedReason
      this.#end(requestId, timestamp, { error: reason === undefined ? errorText : `${errorText} (${reason})` })
    })
    this.#watchSockets(session)
    session.on('Page.lifecycleEvent', ({ loaderId, name, timestamp }) => {
      const page = this.#pages.find((each) => each.loaderId === loaderId)
      if (!page) return
      const ms = Math.max(0, Math.round((timestamp - page.issuedAt) * 1000))
      if (name === 'load') page.pageTimings.onLoad = ms
      if (name === 'DOMContentLoaded') page.pageTimings.onContentLoad = ms
    })
  }

  /** Requests that are not recorded, because there are too many. */
  omitted(): number {
    return this.#omitted
  }

  /** The pages, and the requests so far. */
  read(explain: ExplainFailure): { readonly pages: readonly HarPage[]; readonly entries: readonly HarEntry[] } {
    return {
      pages: this.#pages.map(({ loaderId: _loaderId, issuedAt: _issuedAt, ...page }) => page),
      entries: this.#requests.map((request) => toEntry(request, explain)),
    }
  }

  #watchSockets(session: Session): void {
    session.on('Network.webSocketCreated', ({ requestId, url }) => {
      const request = { method: 'GET', url, headers: {} }
      this.#add(requestId, { request, wallTime: Date.now() / 1000, timestamp: undefined, type: 'WebSocket' })
    })
    session.on('Network.webSocketWillSendHandshakeRequest', ({ requestId, timestamp }) => {
      const socket = this.#open.get(requestId)
      if (socket) socket.issuedAt = timestamp
    })
    session.on('Network.webSocketHandshakeResponseReceived', ({ requestId, timestamp, response }) => {
      const received = { ...response, protocol: 'http/1.1', mimeType: '', encodedDataLength: 0 }
      this.#respond(this.#open.get(requestId), received, timestamp)
    })
    session.on('Network.webSocketFrameError', ({ requestId, timestamp, errorMessage }) =>
      this.#end(requestId, timestamp, { error: this.#redactor.text(errorMessage, textMax) }),
    )
    session.on('Network.webSocketClosed', ({ requestId, timestamp }) => this.#end(requestId, timestamp, {}))
  }

  #begin(sent: Protocol.Network.RequestWillBeSentEvent): void {
    const { requestId, loaderId, frameId, type, request, redirectResponse, timestamp, wallTime } = sent
    const before = this.#open.get(requestId)
    // The second session of a frame's document.
    if (before && !redirectResponse) return
    if (before && redirectResponse) {
      this.#respond(before, redirectResponse, timestamp)
      before.redirectURL = this.#redactor.address(request.url)
      this.#end(requestId, timestamp, { transferredBytes: redirectResponse.encodedDataLength })
    }
    const isPage = requestId === loaderId && frameId === this.#mainFrameId && type === 'Document'
    if (isPage && !redirectResponse && this.#pages.length < pagesMax) {
      this.#pages.push({
        startedDateTime: new Date(wallTime * 1000).toISOString(),
        id: `page_${this.#pages.length + 1}`,
        title: this.#redactor.address(request.url),
        pageTimings: { onContentLoad: -1, onLoad: -1 },
        loaderId,
        issuedAt: timestamp,
      })
    }
    this.#add(requestId, { request, wallTime, timestamp, type })
  }

  #add(requestId: string, { request, wallTime, timestamp, type = 'Other' }: Sent): void {
    if (this.#requests.length >= requestsMax) {
      this.#omitted += 1
      return
    }
    const recorded: Recorded = {
      pageref: this.#pages.at(-1)?.id,
      wallTime,
      issuedAt: timestamp,
      method: this.#redactor.text(request.method, textMax),
      address: this.#redactor.address(request.url),
      host: URL.parse(request.url.slice(0, textMax * 10))?.hostname ?? '',
      requestHeaders: this.#headers(request.headers),
      hasBody: request.hasPostData === true,
      kind: type.toLowerCase(),
      redirectURL: '',
      bodyBytes: 0,
      transferredBytes: 0,
      endedAt: undefined,
      error: undefined,
    }
    this.#requests.push(recorded)
    this.#open.set(requestId, recorded)
  }

  #headers(headers: Protocol.Network.Headers): HarEntry['request']['headers'] {
    const { text, headerNames } = this.#redactor
    return Object.entries(headers)
      .slice(0, headersMax)
      .map(([name, value]) => {
        const lower = name.toLowerCase()
        const isReadable = readableHeaders.has(lower) && !headerNames.has(lower)
        return { name: text(name, textMax), value: isReadable ? text(value, headerCharactersMax) : mask }
      })
  }

  #respond(request: Recorded | undefined, response: Received, timestamp: number): void {
    if (!request) return
    const { status, statusText, protocol = '', headers, mimeType, timing, encodedDataLength } = response
    request.response = {
      status,
      statusText: this.#redactor.text(statusText, textMax),
      protocol: protocol.slice(0, textMax),
      headers: this.#headers(headers),
      headerBytes: encodedDataLength,
      mimeType: this.#redactor.text(mimeType, textMax),
      timing,
      respondedAt: timestamp,
    }
  }

  #end(requestId: string, timestamp: number, end: Partial<Pick<Recorded, 'transferredBytes' | 'error'>>): void {
    const request = this.#open.get(requestId)
    if (!request) return
    this.#open.delete(requestId)
    Object.assign(request, end, { endedAt: timestamp })
  }
}

const queryOf = (address: string): HarEntry['request']['queryString'] =>
  [...(URL.parse(address)?.searchParams ?? [])].map(([name, value]) => ({ name, value }))

const unfinished = 'Not finished when the page was captured.'

/** Timings of a request; those of one that has not ended stop at its response. */
const timingsOf = ({ issuedAt, endedAt, response }: Recorded) => {
  const respondedAt = response?.respondedAt
  const from = issuedAt ?? respondedAt ?? endedAt ?? 0
  return harTimings({ issuedAt: from, respondedAt, endedAt: endedAt ?? respondedAt ?? from, timing: response?.timing })
}

/** What is known of a request beyond its response; undefined: nothing. */
const commentOn = ({ error, endedAt, host }: Recorded, explain: ExplainFailure): string | undefined => {
  if (error !== undefined) return explain(host, error)
  return endedAt === undefined ? unfinished : undefined
}

const noResponse = { status: 0, statusText: '', protocol: '', headers: [], headerBytes: 0, mimeType: '' }

const toResponse = ({ response, error, redirectURL, bodyBytes, transferredBytes }: Recorded): HarEntry['response'] => {
  const { status, statusText, protocol, headers, headerBytes, mimeType } = response ?? noResponse
  return {
    status,
    statusText,
    httpVersion: protocol,
    cookies: [],
    headers,
    content: { size: bodyBytes, mimeType },
    redirectURL,
    headersSize: -1,
    bodySize: Math.max(0, transferredBytes - headerBytes),
    _transferSize: transferredBytes,
    ...(error !== undefined && { _error: error }),
  }
}

const toEntry = (request: Recorded, explain: ExplainFailure): HarEntry => {
  const { response, pageref, wallTime, method, address, requestHeaders, hasBody, kind } = request
  const timings = timingsOf(request)
  const comment = commentOn(request, explain)
  return {
    ...(pageref !== undefined && { pageref }),
    startedDateTime: new Date(wallTime * 1000).toISOString(),
    time: totalMs(timings),
    request: {
      method,
      url: address,
      httpVersion: response?.protocol ?? '',
      cookies: [],
      headers: requestHeaders,
      queryString: queryOf(address),
      headersSize: -1,
      bodySize: hasBody ? -1 : 0,
    },
    response: toResponse(request),
    cache: {},
    timings,
    _resourceType: kind,
    ...(comment !== undefined && { comment }),
  }
}
