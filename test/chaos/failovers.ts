import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '#test/helpers/eventually.ts'
import type { Client } from './client.ts'
import { isSuccess } from './history.ts'
import { createClients } from './accounts.ts'
import { createCall, listCall } from './calls.ts'
import { awaitReplicaReads } from './replica-faults.ts'
import type { World } from './world.ts'

const creators = 5
const readers = 2
/** Pause of each client after a response; at least that of its retry. */
const everyMs = 200
const retryMs = 50
const beforeMs = 3000
/** Accepts after the failover until the load ends. */
const acceptsAfter = 50
const acceptsMs = 60_000

/** A failover under load. */
export type FailoverResult = {
  /** Longest time between two successes, in milliseconds, of creates and of lists. */
  readonly withoutAcceptMs: number
  readonly withoutListMs: number
  /** From the kill of the primary until the promoted replica takes writes, in milliseconds. */
  readonly promotionMs: number
  /** From the kill until the gateway reads from a new replica, its building included, in milliseconds. */
  readonly replicaMs: number
  readonly accepted: number
  /** Accepted captures that have no row afterwards. */
  readonly lost: number
}

const longestGap = (sorted: readonly number[]): number =>
  sorted.reduce((longest, atMs, index) => Math.max(longest, atMs - (sorted[index - 1] ?? atMs)), 0)

/** Sends requests one after another until `stop`; returns when each success ended, and the ids that it showed. */
const send = async (
  request: () => ReturnType<Client['call']>,
  stop: AbortSignal,
  succeeded: (ids: string[]) => void,
) => {
  const endsMs: number[] = []
  while (!stop.aborted) {
    const called = await request()
    if (!isSuccess(called)) {
      await delay(retryMs)
      continue
    }
    endsMs.push(called.endMs)
    succeeded(called.captures.map(({ id }) => id))
    await delay(everyMs)
  }
  return endsMs
}

const findLost = async ({ database }: World, ids: readonly string[]): Promise<number> => {
  const statement = 'select id::text from capture where id = any ($1::uuid[])'
  return ids.length - (await database.query(statement, [ids])).length
}

const failOverOnce = async (world: World, round: number): Promise<FailoverResult> => {
  const { replicas } = world
  if (!replicas) throw new Error('this world has no replicas')
  const [plain] = (await createClients(world, () => {})).plain
  if (!plain) throw new Error('no account')
  await awaitReplicaReads(world)
  const stop = new AbortController()
  const ids: string[] = []
  let nth = 0
  const create = () => {
    nth += 1
    const name = `failover-${round}-${nth}`
    return plain.call(createCall('/v1/screenshots', 'create', { html: `<h1>${name}</h1>` }, name))
  }
  const count = (request: () => ReturnType<Client['call']>, clients: number, succeeded: (shown: string[]) => void) =>
    Promise.all(Array.from({ length: clients }, () => send(request, stop.signal, succeeded))).then((all) =>
      longestGap(all.flat().toSorted((one, other) => one - other)),
    )
  const gaps = Promise.all([
    count(create, creators, (accepted) => ids.push(...accepted)),
    count(
      () => plain.call(listCall),
      readers,
      () => {},
    ),
  ])
  await delay(beforeMs)
  const killedMs = performance.now()
  await replicas.postgres.promote()
  const promotionMs = performance.now() - killedMs
  const before = ids.length
  await eventually(() => ids.length >= before + acceptsAfter, { withinMs: acceptsMs, what: 'captures are accepted' })
  stop.abort()
  const [withoutAcceptMs, withoutListMs] = await gaps
  await replicas.postgres.addReplica()
  await awaitReplicaReads(world)
  const replicaMs = performance.now() - killedMs
  const lost = await findLost(world, ids)
  return { withoutAcceptMs, withoutListMs, promotionMs, replicaMs, accepted: ids.length, lost }
}

/** Fails PostgreSQL over under load, `rounds` times, with a new replica each time. */
export const measureFailovers = async (
  world: World,
  rounds: number,
  ended: (result: FailoverResult) => void,
): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) ended(await failOverOnce(world, round))
}
