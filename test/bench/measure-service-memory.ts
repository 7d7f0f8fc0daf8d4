import { processTree, residentBytes } from '#test/helpers/process-tree.ts'
import { partOf } from './part-of.ts'
import type { SmallPage } from './small-page.ts'

/** How much is measured. */
export type ServiceMemoryWorkload = { readonly callers: number; readonly captures: number }

/** Resident memory of a service in bytes: of its largest process, before the captures and at most. */
export type ServiceMemory = { readonly name: string; readonly before: number; readonly peak: number }

/** Resident memory of the processes of a system before and during captures by several callers. */
export const measureServiceMemory = async (
  { system, capture }: SmallPage,
  { callers, captures }: ServiceMemoryWorkload,
): Promise<readonly ServiceMemory[]> => {
  const before = new Map(processTree(system.pid).map(({ pid }) => [pid, residentBytes(pid).current]))
  const call = async () => {
    for (let count = 0; count < captures / callers; count += 1) await capture()
  }
  await Promise.all(Array.from({ length: callers }, call))
  // A process that has ended meanwhile has no memory.
  const running = processTree(system.pid)
    .map(({ pid, command }) => ({ pid, name: partOf(command), peak: residentBytes(pid).peak }))
    .filter(({ peak }) => peak > 0)
  return [...Map.groupBy(running, ({ name }) => name)].map(([name, processes]) => ({
    name,
    before: Math.max(...processes.map(({ pid }) => before.get(pid) ?? 0)),
    peak: Math.max(...processes.map(({ peak }) => peak)),
  }))
}
