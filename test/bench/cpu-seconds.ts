import { readFileSync } from 'node:fs'
import { processTree } from '#test/helpers/process-tree.ts'

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100

const readStat = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

// utime, stime, and those of children that have ended: fields 14 to 17 of proc_pid_stat(5).
const ticksOf = (pid: number, fields: number) => {
  const text = readStat(pid)
  const from11 = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 11 + fields)
  return from11.reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond
}

/** Processor seconds that a process has used so far; 0 once it has ended. */
export const selfCpuSeconds = (pid: number): number => ticksOf(pid, 2)

/** The same with those of its children that have ended. */
export const ownCpuSeconds = (pid: number): number => ticksOf(pid, 4)

/** Processor seconds that a process and its children have used so far. */
export const cpuSeconds = (pid: number): number =>
  processTree(pid).reduce((sum, each) => sum + ownCpuSeconds(each.pid), 0)
