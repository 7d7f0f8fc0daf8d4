import { openOperator } from '#controller/operator/open-operator.ts'
import type { Logger } from '#shared/telemetry/logger.ts'
import type { DeclaredMetrics, Metrics } from '#shared/telemetry/metrics.ts'
import type { ModelApi } from '#test/helpers/model-api.ts'
import type { ModelClient } from '#test/helpers/model-api/connection.ts'
import { type ClockFault, createProcess, type SimulatedProcess } from '#test/helpers/simulated-process.ts'
import type { Clock } from '#controller/kube/clock.ts'
import type { Bus } from './bus.ts'
import type { Interceptors } from './interceptors.ts'

/** A controller replica. */
export type Replica = {
  readonly process: SimulatedProcess
  /** Its connection to the API server. */
  readonly client: ModelClient
  /** Stops it gracefully; resolves when it has released everything. */
  readonly stop: () => Promise<void>
  /** Kills it and closes its connections. */
  readonly kill: () => void
}

/** Dependencies of a replica. */
export type ReplicaDeps = {
  readonly clock: Clock
  readonly random: () => number
  readonly model: ModelApi
  readonly bus: Bus
  readonly published: (replica: string, subject: string) => void
  readonly logger: Logger
  readonly interceptors: Interceptors
}

const config = {
  instance: 'shutterfleet',
  poolsNamespace: 'default',
  jobsNamespace: 'default',
  controllerPod: '',
  leaseSeconds: 15,
  poolTickMs: 1000,
  podImage: 'worker:1',
  podSecret: 'shutterfleet-worker',
  podExtraCa: false,
  podEgressCa: '',
  podNatsFiles: [],
  podEgress: { host: 'egress', port: 3128 },
  podSeccomp: 'shutterfleet-worker.json',
  podAppArmor: '',
  podSecurityContext: { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 },
  podLabels: {},
  podAnnotations: {},
  podIsolation: 'namespace',
  podUnsafeNoSandbox: false,
  nodeProvisionSeconds: 300,
} as const

/** Metrics that record nothing. */
const silentMetrics = (): Metrics => {
  const metric = { inc: () => {}, dec: () => {}, set: () => {}, observe: () => {}, remove: () => {}, reset: () => {} }
  return {
    declare: (table) => {
      const declared = Object.keys(table).map((name): readonly (string | typeof metric)[] => [name, metric])
      return Object.fromEntries(declared) as DeclaredMetrics<typeof table>
    },
    text: async () => '',
    contentType: () => '',
  }
}

/** Starts the real controller in a simulated process. */
export const startReplica = (deps: ReplicaDeps, name: string, clockFault: ClockFault = {}): Replica => {
  const { clock, random, model, bus, logger, interceptors } = deps
  const process = createProcess({ name, clock, random }, clockFault)
  const client = model.connect({ name, deliver: process.deliver })
  const honest = bus.connect(process, (subject) => deps.published(name, subject))
  const queue = interceptors.queue?.(honest) ?? honest
  const connection = { ...client, send: interceptors.send?.(client.send, { process, queue: honest }) ?? client.send }
  const operator = process.run(() =>
    openOperator({ config, connection, queue, clock: process.clock, random, logger, metrics: silentMetrics() }),
  )
  return {
    process,
    client,
    stop: async () => process.run(() => operator[Symbol.asyncDispose]()),
    kill: () => {
      process.kill()
      void client[Symbol.asyncDispose]()
    },
  }
}
