import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

/**
 * The children that a process started from its main thread, as the kernel counts them. Browsers lead process groups of
 * their own, so each is a group's id too. Empty where the process is gone.
 */
export const childrenOf = (pid: number): readonly number[] => {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').flatMap((child) => (/^\d+$/.test(child) ? [Number(child)] : []))
  } catch {
    return []
  }
}

/** Ends every process of a group at once; a group that is gone already counts as ended. */
export const killGroup = (groupId: number): void => {
  assert(Number.isInteger(groupId) && groupId > 1, 'kill(-1) and kill(0) would end far more than a group')
  try {
    process.kill(-groupId, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Most processes and threads of one user in one namespace; a page with frames of a hundred sites needs about as many. */
export const tasksMax = 2048

/** The id of a child that has not ended. */
export const runningPid = ({ pid, exitCode, signalCode }: ChildProcess): number | undefined =>
  exitCode === null && signalCode === null ? pid : undefined

const stderrCharacters = 2000

/** Keeps the end of what a child writes to standard error, for logs. */
export const keepStderr = ({ stderr }: ChildProcess): (() => string) => {
  let kept = ''
  stderr?.on('data', (chunk: Buffer) => {
    kept = (kept + chunk.toString()).slice(-stderrCharacters)
  })
  return () => kept
}

/** A page that fills memory takes about 0.3 GB in that time. */
const everyMs = 250

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const threadsOf = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

const numbersIn = (text: string) => (text.match(/\d+/g) ?? []).map(Number)

/** Memory in bytes that the process `root` and all its descendants have for themselves, files and shared memory aside. */
export const anonymousBytesOf = (root: number): number => {
  const found = [root]
  let kilobytes = 0
  for (const pid of found) {
    if (found.length > tasksMax) break
    kilobytes += Number(/^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
    // Chromium starts processes from threads other than its first.
    for (const thread of threadsOf(pid)) found.push(...numbersIn(read(`/proc/${pid}/task/${thread}/children`)))
  }
  return kilobytes * 1024
}

/** Calls `exceeded` once when the process tree of `root` has more than `bytesMax` for itself, until disposed. */
export const watchMemory = (root: number, bytesMax: number, exceeded: () => void): Disposable => {
  const timer = setInterval(() => {
    if (anonymousBytesOf(root) <= bytesMax) return
    clearInterval(timer)
    exceeded()
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
