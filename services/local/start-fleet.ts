import { natsPlan, postgresPlan, servicePlan } from './part-plans.ts'
import type { Programs } from './find-programs.ts'
import type { Fleet } from './fleet.ts'
import type { FirstAccount } from './prepare-database.ts'
import type { Facts } from './service-env.ts'

/** What the start of the fleet works with. */
export type StartDeps = {
  readonly fleet: Fleet
  readonly programs: Programs
  readonly facts: Facts
  /** Makes our own services start fast. */
  readonly warm: () => Promise<void>
  /** Brings the database to this version's schema and finds or makes the first account. */
  readonly prepare: () => Promise<FirstAccount>
  /** Ends the starts that are under way, because one of them failed. */
  readonly abandon: (error: unknown) => void
}

/** A system that is up. */
export type StartedFleet = { readonly baseUrl: string; readonly account: FirstAccount }

/** Starts every part as soon as what it needs is up. Throws what the first failing start throws, when all others are up or gone. */
export const startFleet = async (deps: StartDeps): Promise<StartedFleet> => {
  const { fleet, programs, facts } = deps
  const after = async <T>(needs: readonly Promise<unknown>[], start: () => Promise<T>): Promise<T> => {
    await Promise.all(needs)
    try {
      return await start()
    } catch (error) {
      deps.abandon(error)
      throw error
    }
  }
  const service = (name: Parameters<typeof servicePlan>[1], needs: readonly Promise<unknown>[]) =>
    after(needs, () => fleet.start(servicePlan(facts, name)))

  const { postgresBin, natsServer } = programs
  const postgres = after([], async () => postgresBin && fleet.start(postgresPlan(facts, postgresBin)))
  const nats = after([], async () => natsServer && fleet.start(natsPlan(facts, natsServer)))
  const warmed = after([], deps.warm)
  const egress = service('egress', [warmed])
  const prepared = after([warmed, postgres], deps.prepare)
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
