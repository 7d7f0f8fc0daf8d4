import { setTimeout as delay } from 'node:timers/promises'
import { isIPv6, type Server, type Socket } from 'node:net'
import type { HostPort } from '#shared/config/settings/worker.ts'
import { joinSockets } from '#shared/net/join-sockets.ts'
import type { Refusal } from '#shared/net/refusal.ts'
import { type CaptureTraffic, openCaptureTraffic, type TrafficBounds, type TrafficOwner } from './capture-traffic.ts'
import { type EgressEndpoint, requestTunnel, type TrafficOf } from './request-tunnel.ts'
import { readSocksRequest, type SocksReply, socksReply } from './socks-server.ts'

/** The only way out of a browser's network namespace. */
export type Relay = ReturnType<typeof createRelay>

const close = (client: Socket, reply: SocksReply): void => {
  client.end(socksReply(reply), () => client.destroy())
}

/** How long a connection waits for an egress that has no room for it, and the pause between retries. */
const overloadedMs = 10_000
const againMs = 500

const tunnelTo = async (
  target: HostPort,
  client: Socket,
  way: EgressEndpoint,
  of: TrafficOf,
): Promise<Socket | Refusal> => {
  const endsAt = performance.now() + overloadedMs
  for (;;) {
    const tunnel = await requestTunnel(way, of, { target, client })
    if (tunnel !== 'overloaded' || client.destroyed || performance.now() > endsAt) return tunnel
    await delay(againMs)
  }
}

/** Serves one connection of the browser. A refusal reaches the browser host before the browser. */
const serve = async (client: Socket, way: EgressEndpoint, traffic: CaptureTraffic): Promise<void> => {
  const target = await readSocksRequest(client)
  // As addresses of pages have it.
  const host = isIPv6(target.host) ? `[${target.host}]` : target.host
  if (!(await traffic.allows(host))) return close(client, 'notAllowed')
  await traffic.turn(client)
  if (client.destroyed) return
  const tunnel = await tunnelTo(target, client, way, traffic.of)
  if (typeof tunnel !== 'string') {
    client.write(socksReply('succeeded'))
    // What a target ends or breaks off, egress ends: an error before that is of the way to egress.
    tunnel.once('error', () => client.destroyed || tunnel.readableEnded || void traffic.refuse(host, 'unavailable'))
    void joinSockets(client, tunnel)
    for (const socket of [client, tunnel]) socket.on('data', (chunk: Buffer) => traffic.count(chunk.length))
    return
  }
  // Without the browser nobody waits for it, and egress was given up for that.
  if (client.destroyed) return
  await traffic.refuse(host, tunnel)
  close(client, tunnel === 'blocked' ? 'notAllowed' : 'hostUnreachable')
}

/**
 * Serves the browser that connects to `server`, a SOCKS5 proxy that listens in the browser's namespace: each connection is
 * joined byte by byte to a tunnel of egress. Who it is for, and the token, are put into the request here, which no browser
 * host can reach.
 */
export const createRelay = (server: Server, way: EgressEndpoint & TrafficBounds, owner: TrafficOwner) => {
  let active: CaptureTraffic | undefined
  server.on('connection', (client: Socket) => {
    client.on('error', () => {})
    if (!active?.admit(client)) {
      client.destroy()
      return
    }
    client.allowHalfOpen = true
    serve(client.setNoDelay(), way, active).catch(() => client.destroy())
  })
  return {
    /** Serves this capture until its traffic is disposed; between captures every connection is cut. */
    begin: (of: TrafficOf): Disposable => {
      const traffic = openCaptureTraffic(of, way, owner)
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
