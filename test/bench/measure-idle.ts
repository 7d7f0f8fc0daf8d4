import { resolve } from 'node:path'
import { processTree, pssBytes } from '#test/helpers/process-tree.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'
import { ownCpuSeconds } from './cpu-seconds.ts'
import { partOf } from './part-of.ts'

const burst = 40
const settleMs = 75_000
const watchedMs = 30_000

type Part = { name: string; bytes: number; core: number }

/** Memory, and share of a core, of all processes of a system that is idle 75 s after a burst of 40 captures. */
export const measureIdle = async (): Promise<{ parts: Part[]; total: Part }> => {
  await using site = await serveFolder(resolve(import.meta.dirname, '../fixtures/site'))
  await using system = await startSystem(['--allow-target', site.host])
  const path = `/v1/screenshots/capture?url=${encodeURIComponent(`http://${site.host}/index.html`)}`
  await Promise.all(Array.from({ length: burst }, async () => (await system.request(path)).arrayBuffer()))
  await new Promise((wake) => setTimeout(wake, settleMs))
  const before = new Map(processTree(system.pid).map(({ pid }) => [pid, ownCpuSeconds(pid)]))
  await new Promise((wake) => setTimeout(wake, watchedMs))
  const parts = new Map<string, Part>()
  for (const { pid, command } of processTree(system.pid)) {
    const name = partOf(command)
    const { bytes, core } = parts.get(name) ?? { bytes: 0, core: 0 }
    const seconds = ownCpuSeconds(pid) - (before.get(pid) ?? 0)
    parts.set(name, { name, bytes: bytes + pssBytes(pid), core: core + seconds / (watchedMs / 1000) })
  }
  const all = [...parts.values()].filter(({ bytes }) => bytes > 0)
  const sum = (of: 'bytes' | 'core') => all.reduce((total, part) => total + part[of], 0)
  return { parts: all, total: { name: 'all', bytes: sum('bytes'), core: sum('core') } }
}
