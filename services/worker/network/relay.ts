import { setTimeout as delay } from 'node:timers/promises'
import { isIPv6, type Server, type Socket } from 'node:net'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { joinSockets } from '#shared/net/join-sockets.ts'
import type { Refusal } from '#shared/net/refusal.ts'
import { type CaptureTraffic, openCaptureTraffic, type TrafficBounds, type TrafficOwner } from './capture-traffic.ts'
import { type EgressEndpoint, requestTunnel, type EgressCapture } from './request-tunnel.ts'
import { readSocksRequest, type SocksReply, socksReply } from './socks-server.ts'

/** Whether the target itself is refused, rather than unreachable. */
const isForbidden = (refusal: Refusal): boolean => refusal === 'blocked' || refusal.startsWith('denied_')

/** The only route out of a browser's network namespace. */
export type Relay = ReturnType<typeof createRelay>

const close = (client: Socket, reply: SocksReply): void => {
  client.end(socksReply(reply), () => client.destroy())
}

/** How long a connection is retried while egress is overloaded, and the pause between retries. */
const overloadedMs = 10_000
const retryMs = 500

const tunnelTo = async (
  target: HostPort,
  client: Socket,
  upstream: EgressEndpoint,
  capture: EgressCapture,
): Promise<Socket | Refusal> => {
  const endsAt = performance.now() + overloadedMs
  for (;;) {
    const tunnel = await requestTunnel(upstream, capture, { target, client })
    if (tunnel !== 'overloaded' || client.destroyed || performance.now() > endsAt) return tunnel
    await delay(retryMs)
  }
}

/** Serves one connection of the browser. A refusal is sent to the browser host before the browser. */
const serve = async (client: Socket, upstream: EgressEndpoint, traffic: CaptureTraffic): Promise<void> => {
  const target = await readSocksRequest(client)
  // With brackets, as in URLs.
  const host = isIPv6(target.host) ? `[${target.host}]` : target.host
  if (!(await traffic.allows(host))) return close(client, 'notAllowed')
  await traffic.acquire(client)
  if (client.destroyed) return
  const tunnel = await tunnelTo(target, client, upstream, traffic.capture)
  if (typeof tunnel !== 'string') {
    client.write(socksReply('succeeded'))
    // Egress ends the tunnel when a target ends or resets its connection; an error before that is of the connection to egress.
    tunnel.once(
      'error',
      () => client.destroyed || tunnel.readableEnded || void traffic.reportRefusal(host, 'unavailable'),
    )
    void joinSockets(client, tunnel)
    for (const socket of [client, tunnel]) socket.on('data', (chunk: Buffer) => traffic.count(chunk.length))
    return
  }
  // `requestTunnel` gives up when the browser disconnects, which is no refusal.
  if (client.destroyed) return
  await traffic.reportRefusal(host, tunnel)
  close(client, isForbidden(tunnel) ? 'notAllowed' : 'hostUnreachable')
}

/**
 * Serves `server` as the SOCKS5 proxy of a browser; the socket listens in the browser's namespace. Each connection is joined
 * to a tunnel through egress. The capture, the lists of its account and the token are added to the request here, out of reach of
 * the browser host.
 */
export const createRelay = (server: Server, upstream: EgressEndpoint & TrafficBounds, owner: TrafficOwner) => {
  let active: CaptureTraffic | undefined
  server.on('connection', (client: Socket) => {
    client.on('error', () => {})
    if (!active?.admit(client)) {
      client.destroy()
      return
    }
    client.allowHalfOpen = true
    serve(client.setNoDelay(), upstream, active).catch(() => client.destroy())
  })
  return {
    /** Serves this capture until disposed; between captures connections are rejected. */
    begin: (capture: EgressCapture): Disposable => {
      const traffic = openCaptureTraffic(capture, upstream, owner)
      active = traffic
      return {
        [Symbol.dispose]: () => {
          if (active === traffic) active = undefined
          traffic[Symbol.dispose]()
        },
      }
    },
    [Symbol.dispose]: () => void server.close(),
  }
}
