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

/** Processor seconds that a process has used so far, and its children that have ended; 0 once it has ended. */
export const ownCpuSeconds = (pid: number): number => {
  const text = readStat(pid)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // utime, stime, and those of children that have ended: fields 14 to 17 of proc_pid_stat(5).
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticksPerSecond
}

/** Processor seconds that a process and its children have used so far. */
export const cpuSeconds = (pid: number): number =>
  processTree(pid).reduce((sum, each) => sum + ownCpuSeconds(each.pid), 0)
