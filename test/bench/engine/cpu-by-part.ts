import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { partOf } from '#test/bench/part-of.ts'
import { processTree } from '#test/helpers/process-tree.ts'

/** Counts the processor time of a process and all that descends from it, by part. */
export type CpuByPart = Disposable & { readonly read: () => ReadonlyMap<string, number> }

const lookMs = 250
const busyMs = 20

/** The control group of this process in the hierarchy of version 2, which counts processor time wherever it is mounted. */
const ownGroup = (): string => {
  const mount = /^(?:\S+ ){4}(\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1]
  const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  if (mount === undefined || path === undefined) throw new Error('processor time is counted by cgroup v2: mount it')
  return join(mount, path)
}

const move = (pid: number | string, group: string): boolean => {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
    return true
  } catch {
    return false
  }
}

const usedSeconds = (group: string): number =>
  Number(/^usage_usec (\d+)$/m.exec(readFileSync(join(group, 'cpu.stat'), 'utf8'))?.[1]) / 1e6

/** Moves what runs in a group to another; again, while what runs in it starts more or has not quite ended. */
const removeGroup = (group: string, home: string, triesLeft = 100): void => {
  for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n')) if (pid !== '') move(pid, home)
  try {
    rmdirSync(group)
  } catch (error) {
    if (triesLeft === 0) throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs)
    removeGroup(group, home, triesLeft - 1)
  }
}

/**
 * Counts from now on, by a control group for each part, so that what ends counts whole, however short it lived and whoever
 * waited for it. A process that turns into another part counts for the former until a quarter of a second later. Needs root.
 */
export const countCpuByPart = (root: number): CpuByPart => {
  const home = ownGroup()
  const folder = mkdtempSync(join(home, 'bench-'))
  const groups = new Map<string, string>()
  let placed = new Map<number, string>()
  const groupOf = (part: string): string => {
    const group = groups.get(part) ?? join(folder, String(groups.size))
    if (!groups.has(part)) mkdirSync(group)
    groups.set(part, group)
    return group
  }
  const update = () => {
    const before = placed
    placed = new Map()
    for (const { pid, command } of processTree(root)) {
      const part = partOf(command)
      // One that has ended has no command line left.
      if (part === '') continue
      if (before.get(pid) === part || move(pid, groupOf(part))) placed.set(pid, part)
    }
  }
  update()
  const timer = setInterval(update, lookMs)
  return {
    read: () => {
      update()
      return new Map([...groups].map(([part, group]) => [part, usedSeconds(group)]))
    },
    [Symbol.dispose]: () => {
      clearInterval(timer)
      for (const group of groups.values()) removeGroup(group, home)
      rmdirSync(folder)
    },
  }
}
