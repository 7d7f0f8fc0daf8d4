import type { Protocol } from 'devtools-protocol'
import type { Session } from '#worker/browser-host/browser/connection.ts'

type Kind = Protocol.Network.ResourceType

/** What is drawn where it belongs once it is there. */
const drawn: ReadonlySet<Kind> = new Set(['Image', 'Font', 'Stylesheet'])

/** What may go on for as long as the page is open. */
const endless: ReadonlySet<Kind> = new Set(['EventSource', 'Media', 'Ping', 'WebSocket'])

/** Watches the requests of a page that have not ended, but for those of frames of other sites, by its session, whose `Network` events are to be enabled. */
export const watchLoads = (session: Session, mainFrameId: string) => {
  const loading = new Map<string, Kind>()
  let changedAt = performance.now()
  session.on('Network.requestWillBeSent', ({ requestId, type = 'Other' }) => {
    if (endless.has(type)) return
    loading.set(requestId, type)
    changedAt = performance.now()
  })
  const end = ({ requestId }: { requestId: string }) => {
    if (loading.delete(requestId)) changedAt = performance.now()
  }
  // The end of requests of a replaced document is reported by a process that may have ended.
  session.on('Page.frameNavigated', ({ frame: { id, loaderId } }) => {
    if (id !== mainFrameId) return
    for (const requestId of loading.keys()) if (requestId !== loaderId) loading.delete(requestId)
  })
  session.on('Network.loadingFinished', end)
  session.on('Network.loadingFailed', end)
  return {
    /** Images, fonts and style sheets, whatever requests them: elements, CSS or scripts. */
    drawn: (): number => [...loading.values()].filter((kind) => drawn.has(kind)).length,
    /** Milliseconds since the last request that ends began or ended; 0 while any is in flight. */
    idleMs: (): number => (loading.size > 0 ? 0 : performance.now() - changedAt),
  }
}
