import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Egress } from './context.ts'
import { forwardRequest, headerBytesMax } from './forward-request.ts'
import { parseOrigin, type Route } from './target/parse-target.ts'

/**
 * Reads what a client sends through its tunnel as plain requests, for an HTTP proxy of the caller that makes no tunnel to
 * this target. Whatever the requests say, they are of this capture and go to this target through this proxy. A request
 * that is refused is cut: no refusal becomes a page.
 */
export const servePlain = (
  egress: Egress,
  client: Socket,
  { route, capture }: { readonly route: Route; readonly capture: string | undefined },
): void => {
  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    const routeOf = () => ({ ...route, target: parseOrigin(request.url ?? '', route.target) })
    forwardRequest(egress, response, { capture, routeOf }).catch(() => client.destroy())
  })
  server.setTimeout(egress.bounds.idleMs)
  server.on('clientError', (cause) => {
    egress.events.unreadable(cause)
    client.destroy()
  })
  server.emit('connection', client)
}
