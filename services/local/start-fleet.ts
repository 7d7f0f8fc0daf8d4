import { provideBundle } from './bundle.ts'
import { natsPlan, postgresPlan, servicePlan } from './part-plans.ts'
import type { Fleet } from './fleet.ts'
import { type FirstAccount, prepareDatabase } from './prepare-database.ts'
import { type Facts, machineEnv } from './service-env.ts'

/** The result of a successful start. */
export type StartedFleet = { readonly baseUrl: string; readonly account: FirstAccount }

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
  const service = (name: Parameters<typeof servicePlan>[1], dependencies: readonly Promise<unknown>[]) =>
    after([programs, ...dependencies], async () => fleet.start(servicePlan(facts, name, await programs)))

  const { postgresBin, natsServer } = facts.programs
  const postgres = after([], async () => postgresBin && fleet.start(postgresPlan(facts, postgresBin)))
  const nats = after([], async () => natsServer && fleet.start(natsPlan(facts, natsServer)))
  const egress = service('egress', [])
  const prepared = after([postgres], async () => prepareDatabase(facts, await programs, starting))
  const gateway = service('gateway', [nats, prepared])
  const ledger = service('ledger', [nats, prepared])
  const controller = service('controller', [nats, egress])
  const webhookEgress = service('webhook-egress', [])
  const webhooks = service('webhooks', [prepared, webhookEgress])

  const services = [egress, gateway, ledger, controller, webhookEgress, webhooks]
  await Promise.allSettled([postgres, nats, programs, prepared, ...services])
  await Promise.all(services)
  const { addresses } = (await gateway).current()
  return { account: await prepared, baseUrl: addresses['baseUrl'] ?? '' }
}
