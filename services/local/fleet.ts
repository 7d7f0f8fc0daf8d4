import type { LocalProcess } from './local-file.ts'
import { type Part, type PartPlan, supervise } from './supervise.ts'
import type { LocalEvents } from './events.ts'

const toProcess = (part: Part): LocalProcess => {
  const { child, addresses } = part.current()
  const probeUrl = addresses['probeUrl']
  return {
    name: part.name,
    pid: child.pid,
    metrics_url: probeUrl === undefined ? null : `${probeUrl}/metrics`,
    health_url: probeUrl === undefined ? null : `${probeUrl}/readyz`,
  }
}

/** Creates an empty fleet. `changed` runs after each start or restart of a process. `stop` aborts pending starts. */
export const createFleet = (deps: {
  readonly events: LocalEvents
  readonly stop: AbortSignal
  readonly changed: (processes: readonly LocalProcess[]) => Promise<void>
}) => {
  const parts = new Map<string, Part>()
  const processes = () =>
    [...parts.values()].map(toProcess).toSorted((one, other) => one.name.localeCompare(other.name))

  const stopOne = async (name: string) => {
    const startedMs = performance.now()
    await parts.get(name)?.stop()
    if (parts.delete(name)) deps.events.stopped(name, performance.now() - startedMs)
  }

  return {
    /** Starts and supervises a part. Throws the error of its first start. */
    start: async (plan: PartPlan): Promise<Part> => {
      const startedMs = performance.now()
      const part = await supervise(plan, deps.stop, {
        down: deps.events.down,
        back: async (name, pid) => {
          await deps.changed(processes()).catch(deps.events.notWritten)
          deps.events.back(name, pid)
        },
      })
      parts.set(plan.name, part)
      deps.events.step(`${plan.name} is up`, performance.now() - startedMs)
      await deps.changed(processes())
      return part
    },
    /** Stops the groups in order, the parts of a group in parallel. Every part must be in a group. */
    stop: async (order: readonly (readonly string[])[]): Promise<void> => {
      for (const names of order) await Promise.all(names.map(stopOne))
    },
  }
}

/** See `createFleet`. */
export type Fleet = ReturnType<typeof createFleet>
