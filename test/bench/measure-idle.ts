import { setTimeout as delay } from 'node:timers/promises'
import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { ownCpuSeconds } from './cpu-seconds.ts'
import { partOf } from './part-of.ts'
import type { SmallPage } from './small-page.ts'

/** How much is measured. */
export type IdleWorkload = { readonly burst: number; readonly settleMs: number; readonly watchedMs: number }

type Part = { name: string; bytes: number; core: number }

/** Memory, and share of a core, of all processes of a system that is idle after a burst of captures. */
export const measureIdle = async (
  { system, capture }: SmallPage,
  { burst, settleMs, watchedMs }: IdleWorkload,
): Promise<{ parts: Part[]; total: Part }> => {
  await Promise.all(Array.from({ length: burst }, capture))
  await delay(settleMs)
  const before = new Map(processTree(system.pid).map(({ pid }) => [pid, ownCpuSeconds(pid)]))
  await delay(watchedMs)
  const parts = new Map<string, Part>()
  for (const { pid, command } of processTree(system.pid)) {
    const name = partOf(command)
    const { bytes, core } = parts.get(name) ?? { bytes: 0, core: 0 }
    const seconds = ownCpuSeconds(pid) - (before.get(pid) ?? 0)
    parts.set(name, { name, bytes: bytes + pssBytes(pid), core: core + seconds / (watchedMs / 1000) })
  }
  const all = [...parts.values()].filter(({ bytes }) => bytes > 0)
  const sum = (field: 'bytes' | 'core') => all.reduce((total, part) => total + part[field], 0)
  return { parts: all, total: { name: 'all', bytes: sum('bytes'), core: sum('core') } }
}
