import { readdirSync, readFileSync } from 'node:fs'

/** A process as /proc shows it. */
export type Process = { readonly pid: number; readonly parent: number; readonly command: string }

const read = (path: string) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const readProcess = (pid: number): Process[] => {
  // The name of the program stands in parentheses and may hold anything; what follows the last one is fixed.
  const [, parent] = /\) \S (\d+) /.exec(read(`/proc/${pid}/stat`)) ?? []
  if (parent === undefined) return []
  return [{ pid, parent: Number(parent), command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }]
}

const all = (): Process[] =>
  readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(Number(name)) : []))

/** The process `root` and everything that descends from it, at this moment. */
export const processTree = (root: number): Process[] => {
  const everything = all()
  const found = everything.filter(({ pid }) => pid === root)
  for (const { pid } of found) found.push(...everything.filter(({ parent }) => parent === pid))
  return found
}

/** Memory of a process in bytes, pages that it shares counted in shares; 0 where it is gone. */
export const pssBytes = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024
