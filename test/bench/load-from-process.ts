import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Load, LoadResult } from './load.ts'

/** A process that sends loads, so that its work is not that of the benchmark. One load at a time. */
export type LoadProcess = Disposable & {
  readonly pid: number
  readonly send: (load: Load) => Promise<LoadResult>
}

const program = resolve(import.meta.dirname, 'load-process.ts')

/** Starts a process that sends loads. */
export const startLoadProcess = (): LoadProcess => {
  const child: ChildProcess = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    pid: child.pid ?? 0,
    send: async (load) => {
      const answered = once(child, 'message')
      child.send(load)
      const [{ result, error }] = (await answered) as [{ result?: LoadResult; error?: string }]
      if (!result) throw new Error(`load: ${error}`)
      return result
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}
