import { type ServiceName, serviceNames, services } from '#shared/config/services.ts'
import { provideBundle } from './bundle.ts'
import { natsPlan, postgresPlan, servicePlan } from './part-plans.ts'
import type { Fleet } from './fleet.ts'
import { type PreparedAccount, prepareDatabase } from './prepare-database.ts'
import type { Part } from './supervise.ts'
import { type Facts, machineEnv } from './service-env.ts'

/** The result of a successful start. */
export type StartedFleet = { readonly baseUrl: string; readonly account: PreparedAccount }

/**
 * Starts every part as soon as its dependencies are up. Calls `failed` immediately with the first error, which must abort
 * `starting`; throws that error after all other starts have settled.
 */
export const startFleet = async (
  fleet: Fleet,
  facts: Facts,
  { starting, failed }: { readonly starting: AbortSignal; readonly failed: (error: unknown) => void },
): Promise<StartedFleet> => {
  const after = async <T>(dependencies: readonly Promise<unknown>[], start: () => Promise<T>): Promise<T> => {
    await Promise.all(dependencies)
    try {
      return await start()
    } catch (error) {
      failed(error)
      throw error
    }
  }
  const programs = after([], () => provideBundle({ root: facts.root, env: machineEnv(facts.operator) }))
  const { postgresBin, natsServer } = facts.programs
  const postgres = after([], async () => postgresBin && fleet.start(postgresPlan(facts, postgresBin)))
  const nats = after([], async () => natsServer && fleet.start(natsPlan(facts, natsServer)))
  const prepared = after([postgres], async () => prepareDatabase(facts, await programs, starting))
  const parts: Partial<Record<ServiceName, Promise<Part>>> = {}
  const service = (name: ServiceName): Promise<Part> => {
    const dependencies = services[name].needs.map((need) =>
      need === 'nats' ? nats : need === 'database' ? prepared : service(need),
    )
    return (parts[name] ??= after([programs, ...dependencies], async () =>
      fleet.start(servicePlan(facts, name, await programs)),
    ))
  }
  const started = serviceNames.map(service)
  await Promise.allSettled([postgres, nats, programs, prepared, ...started])
  await Promise.all(started)
  const { addresses } = (await service('gateway')).current()
  return { account: await prepared, baseUrl: addresses['baseUrl'] ?? '' }
}
