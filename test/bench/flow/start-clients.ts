import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { ClientLoad, ClientResult } from './clients.ts'

const program = resolve(import.meta.dirname, 'clients-process.ts')

/** A process of clients. One load at a time; `run` throws what the clients threw. */
export type Clients = Disposable & {
  readonly pid: number
  readonly run: (load: ClientLoad) => Promise<ClientResult>
}

/** Starts a process of clients. */
export const startClients = (): Clients => {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    pid: child.pid ?? 0,
    run: async (load) => {
      const answered = once(child, 'message')
      child.send(load)
      const [{ result, error }] = (await answered) as [{ result?: ClientResult; error?: string }]
      if (!result) throw new Error(`clients: ${error}`)
      return result
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}
