import { natsPlan, postgresPlan, servicePlan } from './part-plans.ts'
import type { Fleet } from './fleet.ts'
import { type FirstAccount, prepareDatabase } from './prepare-database.ts'
import { type Facts, machineEnv } from './service-env.ts'
import { warmCompileCache } from './warm-compile-cache.ts'

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
  const service = (name: Parameters<typeof servicePlan>[1], dependencies: readonly Promise<unknown>[]) =>
    after(dependencies, () => fleet.start(servicePlan(facts, name)))

  const { postgresBin, natsServer } = facts.programs
  const postgres = after([], async () => postgresBin && fleet.start(postgresPlan(facts, postgresBin)))
  const nats = after([], async () => natsServer && fleet.start(natsPlan(facts, natsServer)))
  const warmed = after([], () => warmCompileCache({ root: facts.root, env: machineEnv(facts.operator) }))
  const egress = service('egress', [warmed])
  const prepared = after([warmed, postgres], () => prepareDatabase(facts, starting))
  const gateway = service('gateway', [nats, prepared])
  const ledger = service('ledger', [nats, prepared])
  const controller = service('controller', [nats, egress])
  const webhookEgress = service('webhook-egress', [warmed])
  const webhooks = service('webhooks', [prepared, webhookEgress])

  const services = [egress, gateway, ledger, controller, webhookEgress, webhooks]
  await Promise.allSettled([postgres, nats, warmed, prepared, ...services])
  await Promise.all(services)
  const { addresses } = (await gateway).current()
  return { account: await prepared, baseUrl: addresses['baseUrl'] ?? '' }
}
