import type { Protocol } from 'devtools-protocol'
import type { Session } from '#worker/browser-host/browser/connection.ts'

type Kind = Protocol.Network.ResourceType

/** Resources that change the picture once loaded. */
const visual: ReadonlySet<Kind> = new Set(['Image', 'Font', 'Stylesheet'])

/** Resources by which scripts change the page once they are loaded. */
const fetched: ReadonlySet<Kind> = new Set(['Document', 'Fetch', 'Script', 'XHR'])

/** A page's requests for data that take longer are taken for long polling or a stream. */
const fetchMsMax = 1000

/** Media types of images that may be animated. */
const animatable = /^image\/(?:a?png|avif|gif|webp)/

/** Requests that may last as long as the page, and those of speculation rules for a later page. */
const unawaited: ReadonlySet<Kind> = new Set(['EventSource', 'Media', 'Ping', 'Prefetch', 'WebSocket'])

/** Whether a request is for a later page: Chromium reports that of `<link rel=prefetch>` as of the type `Other`. */
const isPrefetch = ({ headers }: Protocol.Network.Request): boolean =>
  Object.entries(headers).some(([name, value]) => /^(?:sec-)?purpose$/i.test(name) && value.startsWith('prefetch'))

/** Most SVG images whose addresses are known. */
const svgImagesMax = 30

type Loading = {
  readonly kind: Kind
  readonly startedAt: number
  readonly frameId: string
  readonly url: string
  /** Its end is reported elsewhere, if at all: that of the document of a frame of another site, and of the script of a worker. */
  readonly isElsewhere?: true
}

/** Watches a page's requests in flight, except for frames of other sites, through its session, whose `Network` events must be enabled. */
export const watchLoads = (session: Session, mainFrameId: string) => {
  const loading = new Map<string, Loading>()
  let changedAt = performance.now()
  let fetchedAt = -Infinity
  let hasAnimatable = false
  session.on('Network.requestWillBeSent', ({ requestId, type = 'Other', request, frameId = '' }) => {
    if (unawaited.has(type) || isPrefetch(request)) return
    changedAt = performance.now()
    loading.set(requestId, { kind: type, startedAt: changedAt, frameId, url: request.url })
  })
  const svgImages = new Set<string>()
  session.on('Network.responseReceived', ({ type, response: { mimeType, url } }) => {
    hasAnimatable ||= type === 'Image' && animatable.test(mimeType)
    if (type === 'Image' && mimeType === 'image/svg+xml' && svgImages.size < svgImagesMax) svgImages.add(url)
  })
  // Its connection may have been in use for long.
  session.on('Network.requestWillBeSentExtraInfo', ({ requestId }) => {
    const waiting = loading.get(requestId)
    if (waiting) loading.set(requestId, { ...waiting, startedAt: performance.now() })
  })
  const end = ({ requestId }: { requestId: string }) => {
    const kind = loading.get(requestId)?.kind
    if (!loading.delete(requestId)) return
    changedAt = performance.now()
    if (kind === 'Fetch' || kind === 'XHR') fetchedAt = changedAt
  }
  // The end of a replaced document's requests may go unreported, as its process may have ended.
  session.on('Page.frameNavigated', ({ frame: { id, loaderId } }) => {
    if (id !== mainFrameId) return
    for (const requestId of loading.keys()) if (requestId !== loaderId) loading.delete(requestId)
  })
  const endElsewhere = (isMeant: (each: Loading) => boolean) => {
    for (const [requestId, each] of loading) {
      if (!isMeant(each)) continue
      changedAt = performance.now()
      loading.set(requestId, { ...each, isElsewhere: true })
    }
  }
  session.on('Page.frameDetached', ({ frameId }) => endElsewhere((each) => each.frameId === frameId))
  session.on('Target.attachedToTarget', ({ targetInfo: { type, url } }) => {
    if (type === 'worker') endElsewhere((each) => each.url === url)
  })
  session.on('Network.loadingFinished', end)
  session.on('Network.loadingFailed', end)
  return {
    /** Images, fonts and style sheets in flight, requested by elements, CSS or scripts. */
    visualsInFlight: (): number => [...loading.values()].filter(({ kind }) => visual.has(kind)).length,
    /** Documents of frames, scripts and data in flight, here or elsewhere, except for what has been in flight for long. */
    fetchesInFlight: (): number => {
      const since = performance.now() - fetchMsMax
      return [...loading.values()].filter(({ kind, startedAt }) => fetched.has(kind) && startedAt > since).length
    },
    /** Whether an image has come, other than to frames of other sites, that may be animated. */
    hasAnimatable: (): boolean => hasAnimatable,
    /** Addresses of SVG images that have come likewise, 30 at most. */
    svgImages: (): readonly string[] => [...svgImages],
    /** Milliseconds since a script's request for data ended; Infinity if none has. */
    sinceFetchMs: (): number => performance.now() - fetchedAt,
    /** Milliseconds since the last request (those not awaited excepted) started or ended; 0 while any is in flight here. */
    idleMs: (): number =>
      [...loading.values()].every(({ isElsewhere }) => isElsewhere) ? performance.now() - changedAt : 0,
  }
}
