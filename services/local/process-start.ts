import { readFile } from 'node:fs/promises'

/** A process by id and start time: together they name one process even after its id was given to another. */
export type ProcessMark = { readonly pid: number; readonly startTicks: number }

/** Start time of a process in clock ticks since boot, or undefined where there is no such process (proc(5), field 22). */
export const startTicksOf = async (pid: number): Promise<number | undefined> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie has ended; only its parent has not looked yet.
    return state === 'Z' ? undefined : Number(rest[18])
  } catch {
    return undefined
  }
}

/** Names a running process; undefined where it has ended. */
export const markProcess = async (pid: number): Promise<ProcessMark | undefined> => {
  const startTicks = await startTicksOf(pid)
  return startTicks === undefined ? undefined : { pid, startTicks }
}

/** Whether exactly this process still runs. */
export const isRunning = async (mark: ProcessMark): Promise<boolean> =>
  (await startTicksOf(mark.pid)) === mark.startTicks
