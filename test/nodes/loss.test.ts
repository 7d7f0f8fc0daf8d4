import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { holdCaptures } from '#test/helpers/nodes/held-captures.ts'
import { cluster, completed, outside, release, standardPool, until } from '#test/helpers/nodes/running-release.ts'
import type { WorkerOnNode } from '#test/helpers/nodes/workers.ts'

const { kubectl } = cluster
const nodesOf = (workers: readonly WorkerOnNode[]) =>
  [...new Set(workers.filter(({ isReady }) => isReady).map(({ node = '' }) => node))].toSorted((a, b) =>
    a.localeCompare(b),
  )

t.test('pool: workers on both nodes serve a burst without losing a capture', async (t) => {
  await release.deploy('upgrade', standardPool([1, 4]))
  await until((workers) => workers.length === 1)
  const captures = holdCaptures(release, outside)
  await captures.create(12)
  await captures.requested(4)
  const most = await until((workers) => workers.filter(({ isReady }) => isReady).length === 4)
  t.strictSame(nodesOf(most), ['node-1', 'node-2'])
  t.strictSame(await captures.finish(), completed(12))
  const [last] = await until((workers) => workers.length === 1)
  t.ok(last?.isReady)
})

t.test('node drain: captures in progress complete', async (t) => {
  await release.deploy('upgrade', standardPool([2, 4]))
  await until((workers) => nodesOf(workers).length === 2)
  const captures = holdCaptures(release, outside)
  await captures.create(2)
  await captures.requested(2)
  const drain = ['drain', 'node-2', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=50s']
  // Each service pod may take its whole grace period, one pod after another.
  const drained = eventually(async () => (await kubectl(drain)) !== '', { withinMs: 300_000, what: 'node-2 is empty' })
  drained.catch(() => {})
  await until((workers) => workers.some(({ node, isEnding }) => node === 'node-2' && isEnding))
  await captures.create(2)
  t.strictSame(await captures.finish(), completed(4))
  await drained
  t.strictSame(nodesOf(await until((workers) => workers.length === 2 && workers.every(({ isReady }) => isReady))), [
    'node-1',
  ])
  await kubectl(['uncordon', 'node-2'])
})

t.test('node loss: captures in progress on the node are retried on other nodes', async (t) => {
  // After a drain both workers are on one node without room for a third: a replacement goes to the other node.
  const [one] = await until((workers) => workers.length === 2)
  await kubectl(['delete', 'pod', one?.name ?? '', `-n=${release.workersNamespace}`, '--wait'])
  await until((workers) => nodesOf(workers).length === 2)
  const captures = holdCaptures(release, outside)
  await captures.create(2)
  await captures.requested(2)
  await cluster.nodes[1]?.[Symbol.asyncDispose]()
  t.strictSame(await captures.finish(), completed(2))
})

/** Below the minute that a page may take; starting a node with its worker takes longer. */
const heldMs = 25_000
/** Runs rounds of six captures until `happened` settles; returns the final statuses of all captures. */
const keepBusy = async (happened: Promise<unknown>) => {
  const ends: string[] = []
  for (let isOver = false; !isOver;) {
    const captures = holdCaptures(release, outside)
    await captures.create(6)
    isOver = await Promise.race([happened.then(() => true), delay(heldMs, false)])
    ends.push(...(await captures.finish()))
  }
  return ends
}

t.test('pending workers: captures wait for a node that arrives late', async (t) => {
  await kubectl(['delete', 'node', 'node-2'])
  const arriveLate = async () => {
    await until((workers) => workers.some(({ node }) => node === undefined))
    await cluster.addNode()
    await until((workers) => nodesOf(workers).includes('node-3'))
  }
  const ends = await keepBusy(arriveLate())
  t.strictSame(ends, completed(ends.length))
})
