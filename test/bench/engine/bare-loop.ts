import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Contender, Taken } from './contender.ts'
import { countCpuByPart } from './cpu-by-part.ts'

type Reply = { readonly number: number } & ({ readonly taken: Taken } | { readonly error: string })

/** Starts the bare loop in a process of its own. */
export const startBareLoop = async (): Promise<Contender & AsyncDisposable> => {
  const child = fork(resolve(import.meta.dirname, 'loop-process.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  await Promise.race([once(child, 'message'), ended])
  if (child.exitCode !== null) throw new Error(`the bare loop ended with ${child.exitCode}`)
  const cpu = countCpuByPart(child.pid ?? 0)
  const waiting = new Map<number, PromiseWithResolvers<Taken>>()
  let sent = 0
  child.on('message', (reply: Reply) => {
    const waiter = waiting.get(reply.number)
    waiting.delete(reply.number)
    if ('taken' in reply) waiter?.resolve(reply.taken)
    else waiter?.reject(new Error(`the bare loop: ${reply.error}`))
  })
  return {
    take: (shot) => {
      const number = sent++
      const waiter = Promise.withResolvers<Taken>()
      waiting.set(number, waiter)
      child.send({ number, shot })
      return waiter.promise
    },
    cpu: cpu.read,
    [Symbol.asyncDispose]: async () => {
      cpu[Symbol.dispose]()
      child.disconnect()
      await ended
    },
  }
}
