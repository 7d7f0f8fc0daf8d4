import { join } from 'node:path'
import { type ServiceName, services } from '#shared/config/services.ts'
import { programPath, type Programs } from '#shared/process/program-path.ts'
import { startNats } from './nats.ts'
import { pause } from '#shared/process/pause.ts'
import type { Rest } from '#shared/process/rest.ts'
import { type NodeProcess, startNodeProcess } from './node-process.ts'
import { startPostgres } from './postgres.ts'
import { type Facts, machineEnv, serviceEnv } from './service-env.ts'
import type { PartPlan } from './supervise.ts'
import { healthProbe, postgresProbe, untilStoreFails, untilUnresponsive } from './watchdog.ts'

const logPath = ({ folder }: Facts, name: string) => join(folder.logs, `${name}.log`)

/** The plan of the local PostgreSQL, in `<data>/postgres`. */
export const postgresPlan = (facts: Facts, bin: string): PartPlan => ({
  name: 'postgres',
  // Fast shutdown: open transactions are rolled back, nothing committed is lost.
  stopSignal: 'SIGINT',
  stopMs: 20_000,
  untilUnresponsive: (_running, signal) =>
    untilStoreFails(postgresProbe(facts.ports.postgres), { folder: facts.folder.postgres, rest: facts.rest }, signal),
  start: async (signal) => ({
    addresses: {},
    child: await startPostgres(
      {
        bin,
        folder: facts.folder.postgres,
        password: facts.secrets.postgresPassword,
        port: facts.ports.postgres,
        logPath: logPath(facts, 'postgres'),
        env: machineEnv(facts.operator),
      },
      signal,
    ),
  }),
})

/** The plan of the local NATS server, in `<data>/nats`. */
export const natsPlan = (facts: Facts, program: string): PartPlan => ({
  name: 'nats',
  stopSignal: 'SIGTERM',
  stopMs: 10_000,
  untilUnresponsive: (_running, signal) =>
    untilStoreFails(
      healthProbe(`http://127.0.0.1:${facts.ports.natsHealth}`),
      { folder: facts.folder.nats, rest: facts.rest },
      signal,
    ),
  start: async (signal) => ({ addresses: {}, child: await startNats(facts, program, signal) }),
})

/** Requests reach such a program first: it reports none while it does not respond, so its probes do not rest. */
const restless = { wait: pause, markBusy: () => {} }

/** The plan of one of our programs, which gets `stopMs` to stop; what it reports of its activity ends the rest. */
export const programPlan = (
  program: Omit<NodeProcess, 'active'>,
  stopMs: number,
  rest: Pick<Rest, 'wait' | 'markBusy'> = restless,
): PartPlan => ({
  name: program.name,
  stopSignal: 'SIGTERM',
  stopMs,
  untilUnresponsive: ({ addresses: { probeUrl = '' } }, signal) =>
    untilUnresponsive(healthProbe(probeUrl), signal, { rest }),
  start: (signal) => startNodeProcess({ ...program, active: rest.markBusy }, signal),
})

/** The plan of a service. */
export const servicePlan = (facts: Facts, name: ServiceName, programs: Programs): PartPlan => {
  const main = programPath(services[name].program, programs)
  const program = { name, main, env: serviceEnv(facts, name), logPath: logPath(facts, name) }
  const { markBusy } = facts.rest
  return programPlan(program, services[name].stopMs, name === 'gateway' ? { ...restless, markBusy } : facts.rest)
}
