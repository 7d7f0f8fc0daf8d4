import { readFileSync } from 'node:fs'
import { partOf } from '#test/bench/part-of.ts'
import { ownCpuSeconds } from '#test/bench/cpu-seconds.ts'
import { processTree } from '#test/helpers/process-tree.ts'

/** Counts the processor time of a process and all that descends from it, by part. */
export type CpuByPart = Disposable & { readonly read: () => ReadonlyMap<string, number> }

type Seen = { readonly part: string; readonly parent: string; readonly seconds: number }

const lookMs = 250

/** A process id that stands for one process: its start follows. Undefined where it is gone. */
const keyOf = (pid: number): string | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22 of proc_pid_stat(5).
    return `${pid} ${text.slice(text.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return undefined
  }
}

const look = (root: number, before: ReadonlyMap<string, Seen>): Map<string, Seen> => {
  const tree = processTree(root)
  const keys = new Map(tree.map(({ pid }) => [pid, keyOf(pid)]))
  const seen = new Map<string, Seen>()
  for (const { pid, parent, command } of tree) {
    const key = keys.get(pid)
    if (key === undefined) continue
    try {
      const seconds = ownCpuSeconds(pid)
      // One that has ended has no command line left.
      seen.set(key, { part: before.get(key)?.part ?? partOf(command), parent: keys.get(parent) ?? '', seconds })
    } catch {
      // It is gone.
    }
  }
  return seen
}

/**
 * Counts from now on. Linux adds the time of a process that ends to that of its parent, but only where the parent waits for
 * it: what was killed together with its parent counts as it was last seen, at most a quarter of a second before.
 */
export const countCpuByPart = (root: number): CpuByPart => {
  const ended = new Map<string, number>()
  let seen = look(root, new Map())
  const move = (part: string, seconds: number) => ended.set(part, (ended.get(part) ?? 0) + seconds)
  const update = () => {
    const now = look(root, seen)
    for (const [key, gone] of seen) {
      if (now.has(key)) continue
      move(gone.part, gone.seconds)
      const parent = now.get(gone.parent)
      if (parent) move(parent.part, -gone.seconds)
    }
    seen = now
  }
  const timer = setInterval(update, lookMs)
  return {
    read: () => {
      update()
      const parts = new Map(ended)
      for (const { part, seconds } of seen.values()) parts.set(part, (parts.get(part) ?? 0) + seconds)
      return parts
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
