import type { ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The children that one thread of a process started, from `/proc`; empty if it has ended. */
const childrenOfThread = (pid: number, thread: number | string): number[] =>
  (read(`/proc/${pid}/task/${thread}/children`).match(/\d+/g) ?? []).map(Number)

/** The children that a process started from its main thread. For browsers, which lead process groups, these are group ids too. */
export const listChildren = (pid: number): readonly number[] => childrenOfThread(pid, pid)

/** Most processes and threads of one user in one namespace; a page with frames of a hundred sites needs about that many. */
export const tasksMax = 2048

/** The id of a child that has not ended. */
export const runningPid = ({ pid, exitCode, signalCode }: ChildProcess): number | undefined =>
  exitCode === null && signalCode === null ? pid : undefined

const stderrCharacters = 2000

/** Keeps the end of what a child writes to standard error, for logs. */
export const keepStderr = ({ stderr }: ChildProcess): (() => string) => {
  let tail = ''
  stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-stderrCharacters)
  })
  return () => tail
}

/** A page that fills memory allocates about 0.3 GB in this time. */
const everyMs = 250

const listThreads = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Anonymous memory in bytes of the process `root` and all its descendants, without files and shared memory. */
export const readAnonymousBytes = (root: number): number => {
  const found = [root]
  let kilobytes = 0
  for (const pid of found) {
    if (found.length > tasksMax) break
    kilobytes += Number(/^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
    // Chromium starts processes from threads other than its first.
    for (const thread of listThreads(pid)) found.push(...childrenOfThread(pid, thread))
  }
  return kilobytes * 1024
}

/** Processor time that a process has used so far, in hundredths of a second; 0 if it has ended. From `/proc`. */
export const readProcessorTicks = (pid: number): number => {
  const text = read(`/proc/${pid}/stat`)
  // The program's name is in parentheses and may contain any character; utime and stime are the fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
}

/** Calls `exceeded` once when the process tree of `root` has more than `bytesMax` of anonymous memory, until disposed. */
export const watchMemory = (root: number, bytesMax: number, exceeded: () => void): Disposable => {
  const timer = setInterval(() => {
    if (readAnonymousBytes(root) <= bytesMax) return
    clearInterval(timer)
    exceeded()
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
