import { join } from 'node:path'
import { startNats } from './nats.ts'
import { startNodeProcess } from './node-process.ts'
import { startPostgres } from './postgres.ts'
import {
  controllerEnv,
  egressEnv,
  type Facts,
  gatewayEnv,
  ledgerEnv,
  machineEnv,
  webhookEgressEnv,
  webhooksEnv,
} from './service-env.ts'
import type { PartPlan } from './supervise.ts'
import { healthProbe, untilUnresponsive } from './watchdog.ts'

const logOf = ({ folder }: Facts, name: string) => join(folder.logs, `${name}.log`)

/** How our own PostgreSQL is started, in the folder's `postgres`. */
export const postgresPlan = (facts: Facts, bin: string): PartPlan => ({
  name: 'postgres',
  // Fast shutdown: open transactions are rolled back, nothing committed is lost.
  stopSignal: 'SIGINT',
  stopMs: 20_000,
  start: async (signal) => ({
    addresses: {},
    child: await startPostgres(
      {
        bin,
        folder: facts.folder.postgres,
        password: facts.secrets.postgresPassword,
        port: facts.ports.postgres,
        logPath: logOf(facts, 'postgres'),
        env: machineEnv(facts.operator),
      },
      signal,
    ),
  }),
})

/** How our own NATS is started, in the folder's `nats`. */
export const natsPlan = (facts: Facts, program: string): PartPlan => ({
  name: 'nats',
  stopSignal: 'SIGTERM',
  stopMs: 10_000,
  start: async (signal) => ({ addresses: {}, child: await startNats(facts, program, signal) }),
})

/** Our services, and how long each may take to end in good order. The controller waits for its workers, who finish their captures. */
const services = {
  egress: { folder: 'egress', env: egressEnv, stopMs: 40_000 },
  'webhook-egress': { folder: 'egress', env: webhookEgressEnv, stopMs: 40_000 },
  webhooks: { folder: 'webhooks', env: webhooksEnv, stopMs: 30_000 },
  ledger: { folder: 'ledger', env: ledgerEnv, stopMs: 30_000 },
  gateway: { folder: 'gateway', env: gatewayEnv, stopMs: 40_000 },
  controller: { folder: 'controller', env: controllerEnv, stopMs: 120_000 },
} as const

/** How one of our services is started. */
export const servicePlan = (facts: Facts, name: keyof typeof services): PartPlan => ({
  name,
  stopSignal: 'SIGTERM',
  stopMs: services[name].stopMs,
  untilUnresponsive: ({ addresses: { probeUrl = '' } }, signal) => untilUnresponsive(healthProbe(probeUrl), signal),
  start: (signal) =>
    startNodeProcess(
      {
        name,
        main: join(facts.root, 'services', services[name].folder, 'main.ts'),
        env: services[name].env(facts),
        logPath: logOf(facts, name),
      },
      signal,
    ),
})
