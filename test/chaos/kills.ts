import { setTimeout as delay } from 'node:timers/promises'
import { connectQueue } from '#shared/queue/connection.ts'
import { resultFilter, startedFilter } from '#shared/queue/subjects.ts'
import type { Client } from './client.ts'
import { signalAll } from '#test/helpers/process-tree.ts'
import { processNames } from './faults.ts'
import { createClients } from './accounts.ts'
import { captureCall } from './calls.ts'
import type { World } from './world.ts'

const everyMs = 1000
const capturesBefore = 3
const capturesAfter = 9
const timeoutMs = 120_000

/** The captures around a kill: the longest wait for an image, its client's retries included, and how many got none. */
export type Kill = { readonly name: string; readonly worstMs: number; readonly failed: number }

/** Resolves at the next message, which the ledger has in hand then. */
const untilReport = async (world: World, filter: string): Promise<void> => {
  const { nats_url: url } = await world.system.readLocal()
  await using queue = await connectQueue({ url, name: 'killer', inboxPrefix: '_INBOX.killer', notice: () => {} })
  const { promise, resolve } = Promise.withResolvers<void>()
  using _subscription = queue.subscribe(filter, () => resolve())
  await promise
}

const moments = [resultFilter, startedFilter('standard')]

/** Captures once a second, and kills all processes called `name` when a capture is in hand: its result or, every other round, its start. */
const killOnce = async (world: World, client: Client, name: string, round: number): Promise<Kill> => {
  const captureOne = async (n: number) => {
    await delay(n * everyMs)
    const beganMs = performance.now()
    const call = captureCall(world, `${name}-${round}-${n}`)
    const { status } = await client.insist(call, beganMs + timeoutMs)
    return { tookMs: performance.now() - beganMs, isOk: status === 200 }
  }
  const captures = Array.from({ length: capturesBefore + capturesAfter }, (_, n) => captureOne(n))
  await delay(capturesBefore * everyMs - everyMs / 2)
  const pids = await world.pidsOf(name)
  await untilReport(world, moments[round % moments.length]!)
  signalAll(pids, 'SIGKILL')
  const ended = await Promise.all(captures)
  const worstMs = Math.max(...ended.map(({ tookMs }) => tookMs))
  return { name, worstMs, failed: ended.filter(({ isOk }) => !isOk).length }
}

/** Kills each process once a round, in turns, so that it has run for a while before it is killed again. */
export const measureKills = async (
  world: World,
  { rounds, names = processNames }: { readonly rounds: number; readonly names?: readonly string[] | undefined },
  ended: (kill: Kill) => void,
): Promise<void> => {
  const [plain] = (await createClients(world, () => {})).plain
  if (!plain) throw new Error('no account')
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) ended(await killOnce(world, plain, name, round))
  }
}
