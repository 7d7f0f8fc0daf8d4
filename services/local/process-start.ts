import { readFile } from 'node:fs/promises'

/** A process by id and start time, which stays unambiguous if the id is reused. */
export type ProcessMark = { readonly pid: number; readonly startTicks: number }

/** Start time of a process in clock ticks since boot (proc(5), field 22); undefined if there is no such process. */
export const readStartTicks = async (pid: number): Promise<number | undefined> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie has ended, but its parent has not reaped it yet.
    return state === 'Z' ? undefined : Number(rest[18])
  } catch {
    return undefined
  }
}

/** The mark of a running process; undefined if it has ended. */
export const markProcess = async (pid: number): Promise<ProcessMark | undefined> => {
  const startTicks = await readStartTicks(pid)
  return startTicks === undefined ? undefined : { pid, startTicks }
}

/** Whether this very process still runs, not another with its id. */
export const isRunning = async (mark: ProcessMark): Promise<boolean> =>
  (await readStartTicks(mark.pid)) === mark.startTicks
