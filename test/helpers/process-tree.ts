import { readdirSync, readFileSync } from 'node:fs'

/** A process from /proc. */
export type Process = { readonly pid: number; readonly parent: number; readonly command: string }

const read = (path: string) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const readProcess = (pid: number): Process[] => {
  // The program name is in parentheses and may contain any character; the format after the last one is fixed.
  const [, parent] = /\) \S (\d+) /.exec(read(`/proc/${pid}/stat`)) ?? []
  if (parent === undefined) return []
  return [{ pid, parent: Number(parent), command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }]
}

const all = (): Process[] =>
  readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []))

/** The process `root` and its current descendants. */
export const processTree = (root: number): Process[] => {
  const everything = all()
  const found = everything.filter(({ pid }) => pid === root)
  for (const { pid } of found) found.push(...everything.filter(({ parent }) => parent === pid))
  return found
}

/** Sends a signal to those of the processes that still run. */
export const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** Proportional set size (PSS) of a process in bytes; 0 if it does not exist. */
export const pssBytes = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024

/** Resident memory of a process in bytes that no file or shared memory backs; 0 if the process does not exist. */
export const anonymousBytes = (pid: number): number =>
  Number(/^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

/** Resident memory of a process in bytes, now and at most since its start; 0 if it does not exist. */
export const residentBytes = (pid: number): { readonly current: number; readonly peak: number } => {
  const status = read(`/proc/${pid}/status`)
  const bytes = (found: RegExpExecArray | null) => Number(found?.[1] ?? 0) * 1024
  return { current: bytes(/^VmRSS:\s+(\d+) kB/m.exec(status)), peak: bytes(/^VmHWM:\s+(\d+) kB/m.exec(status)) }
}
