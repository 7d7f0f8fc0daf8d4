import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

/** A process that does work, so that it is told apart from the benchmark's. One work at a time; `send` throws what it threw. */
export type Sender<Work extends object, Result> = Disposable & {
  readonly pid: number
  readonly send: (work: Work) => Promise<Result>
}

/** Starts a program of this folder, which answers each work by `answerParent`. */
export const forkSender = <Work extends object, Result>(program: string): Sender<Work, Result> => {
  const child = fork(resolve(import.meta.dirname, program), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    pid: child.pid ?? 0,
    send: async (work) => {
      const answered = once(child, 'message')
      child.send(work)
      const [{ result, error }] = (await answered) as [{ result?: Result; error?: string }]
      if (result === undefined) throw new Error(`${program}: ${error}`)
      return result
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

/** Sends the result of some work to the parent process, or its error. */
export const answerParent = (work: Promise<unknown>): void => {
  void work.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
}
