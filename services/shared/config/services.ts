import { commonSettings } from './settings/common.ts'
import { controllerSettings } from './settings/controller.ts'
import { egressSettings } from './settings/egress.ts'
import { gatewaySettings } from './settings/gateway.ts'
import { ledgerSettings } from './settings/ledger.ts'
import { operatorSettings } from './settings/operator.ts'
import { databaseSettings, queueSettings, storageSettings, trustSettings } from './settings/outside.ts'
import type { Settings } from './settings/setting.ts'
import { webhookSettings } from './settings/webhooks.ts'

/** A service of every installation: a process on one machine, a Deployment in a cluster. The controller starts the workers. */
type Service = {
  /** Its program below `services`, without the extension. */
  readonly program: string
  /** The groups of settings that it reads, besides those of every service; on one machine it gets no other variables. */
  readonly settings: readonly Settings[]
  /** What must be up on one machine before it starts: NATS, the migrated database, or another service. */
  readonly needs: readonly string[]
  /** Whether it sends spans, and gets the `OTEL_…` variables, which may contain a receiver's token. */
  readonly sendsSpans: boolean
  /** On one machine services stop turn by turn, those of a turn in parallel. */
  readonly stopTurn: 1 | 2 | 3 | 4
  /** Longest time that it takes to stop. */
  readonly stopMs: number
  /** What it is in a cluster, if that differs. */
  readonly cluster?: Pick<Service, 'program' | 'settings'>
}

/** A filter for the traffic of pages or of webhooks. */
const egressFilter = {
  program: 'egress/main',
  settings: [egressSettings],
  needs: [],
  sendsSpans: false,
  stopMs: 40_000,
}

/**
 * The services by name. The controller stops first: its workers finish their captures and upload images to the gateway. The
 * gateway then responds to waiting clients, which needs the ledger; webhooks finishes deliveries in flight. What they use stops
 * last, with NATS and PostgreSQL.
 */
export const services = {
  egress: { ...egressFilter, stopTurn: 3 },
  'webhook-egress': { ...egressFilter, stopTurn: 4 },
  gateway: {
    program: 'gateway/main',
    settings: [databaseSettings, queueSettings, storageSettings, gatewaySettings],
    needs: ['nats', 'database'],
    sendsSpans: true,
    stopTurn: 2,
    stopMs: 40_000,
  },
  ledger: {
    program: 'ledger/main',
    settings: [databaseSettings, queueSettings, storageSettings, ledgerSettings],
    needs: ['nats', 'database'],
    sendsSpans: true,
    stopTurn: 3,
    stopMs: 30_000,
  },
  webhooks: {
    program: 'webhooks/main',
    settings: [databaseSettings, storageSettings, trustSettings, webhookSettings],
    needs: ['database', 'webhook-egress'],
    sendsSpans: true,
    stopTurn: 3,
    stopMs: 30_000,
  },
  controller: {
    program: 'controller/main',
    settings: [queueSettings, controllerSettings],
    needs: ['nats', 'egress'],
    sendsSpans: false,
    stopTurn: 1,
    // It waits for its workers, which finish their captures.
    stopMs: 120_000,
    cluster: { program: 'controller/main-operator', settings: [queueSettings, operatorSettings] },
  },
} as const satisfies Readonly<Record<string, Service>>

/** See `services`. */
export type ServiceName = keyof typeof services

/** The services' names, sorted. */
export const serviceNames = (Object.keys(services) as ServiceName[]).toSorted()

const withCommon = (groups: readonly Settings[]): Settings => Object.assign({}, commonSettings, ...groups)

/** All settings that a service reads on one machine. */
export const serviceSettings = (name: ServiceName): Settings => withCommon(services[name].settings)

/** All settings that a service reads in a cluster. */
export const clusterSettings = (name: ServiceName): Settings => {
  const service: Service = services[name]
  return withCommon(service.cluster?.settings ?? service.settings)
}
