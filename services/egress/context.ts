import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { resolvConfKeyword } from '#shared/config/settings/egress.ts'
import type { TargetLists } from '#shared/policy/target-lists.ts'
import { createLogger, type Logger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import type { Config } from './config.ts'
import type { UpstreamDependencies } from './connections/connect-upstream.ts'
import { createEvents, type Events } from './telemetry/events.ts'
import { createAuthorization, createListsReader } from './connections/request-head.ts'
import { searchDomains } from './target/internal-domains.ts'
import { createDiscovery } from './target/nat64.ts'
import { createOwnNetwork } from './target/own-network.ts'
import { createIpv6Query, createResolver } from './target/resolver.ts'

/** Dependencies of the egress filter's use cases. */
export type Egress = UpstreamDependencies & {
  readonly events: Events
  /** Whether a request carries a valid token, or none is required. */
  readonly isAuthorized: (request: IncomingMessage) => boolean
  /** The account's lists of targets that a request names. */
  readonly readLists: (request: IncomingMessage) => TargetLists
}

/** The DNS search list of this machine; empty if /etc/resolv.conf cannot be read. */
const searchList = (): readonly string[] => {
  try {
    return searchDomains(readFileSync('/etc/resolv.conf', 'utf8'))
  } catch {
    return []
  }
}

/** Creates the dependencies; opens no connection. */
export const createContext = (config: Config): Egress & { readonly log: Logger; readonly metrics: Metrics } => {
  const log = createLogger({ service: config.component, level: config.logLevel })
  const metrics = createMetrics(config.component)
  const events = createEvents(log, metrics)
  const { nat64Prefixes } = config
  return {
    log,
    metrics,
    resolver: createResolver(config, events.nameLookedUp),
    rules: {
      allow: config.allowTargets,
      deny: config.denyCidrs,
      lists: { allow: config.onlyTargets, deny: config.denyTargets },
      internal: config.internalDomains.flatMap((domain) => (domain === resolvConfKeyword ? searchList() : [domain])),
      own: createOwnNetwork(() => performance.now()),
      nat64: nat64Prefixes
        ? async () => nat64Prefixes
        : createDiscovery({
            query: createIpv6Query(config),
            now: () => performance.now(),
            failed: events.nat64Unknown,
          }),
    },
    connect: ({ host, port }) => connect({ host, port, noDelay: true, allowHalfOpen: true }),
    upstream: config.upstreamProxy,
    bounds: config,
    isAuthorized: createAuthorization(config.egressTokens),
    readLists: createListsReader(),
    events,
  }
}
