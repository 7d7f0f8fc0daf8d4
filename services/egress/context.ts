import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createLogger, type Logger } from '#shared/telemetry/logger.ts'
import { createMetrics, type Metrics } from '#shared/telemetry/metrics.ts'
import type { Config } from './config.ts'
import type { Connect } from './dial.ts'
import { createEvents, type Events } from './events.ts'
import { createResolver } from './resolver.ts'
import type { Resolver, TargetRules } from './resolve-target.ts'

/** Bounds of one connection, in milliseconds and bytes. */
export type Bounds = { readonly connectMs: number; readonly idleMs: number; readonly connectionBytesMax: number }

/** What the use cases of the egress filter work with. */
export type Egress = {
  readonly resolver: Resolver
  readonly rules: TargetRules
  readonly connect: Connect
  readonly bounds: Bounds
  readonly events: Events
}

/** Puts the egress filter together; opens nothing. */
export const createContext = (config: Config): Egress & { readonly log: Logger; readonly metrics: Metrics } => {
  const log = createLogger({ service: 'egress', level: config.logLevel })
  const metrics = createMetrics('egress')
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return {
    log,
    metrics,
    resolver: createResolver(config.dnsMs),
    rules: {
      allow: config.allowTargets,
      deny: config.denyCidrs,
      ownAddresses: new Set(interfaces.map(({ address }) => address)),
    },
    connect: ({ host, port }) => connect({ host, port, noDelay: true, allowHalfOpen: true }),
    bounds: config,
    events: createEvents(log, metrics),
  }
}
