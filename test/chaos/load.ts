import { setTimeout as delay } from 'node:timers/promises'
import { allClients, type Clients } from './accounts.ts'
import { listCall, readCall } from './calls.ts'
import type { Client } from './client.ts'
import type { Plan, PlannedStep } from './plan.ts'
import { begin } from './steps.ts'
import type { World } from './world.ts'

/** Reads what a capture has besides its image: the names that the record of a completed one lists. */
const readFiles = async (client: Client, id: string): Promise<void> => {
  const { data } = await client.call(readCall('status', id))
  const listed = ['outputs', 'renditions'].flatMap((name) => (data?.[name] ?? []) as readonly { url: string }[])
  for (const { url } of listed) {
    const { pathname } = new URL(url)
    await client.call({ operation: 'file', path: pathname, target: id, files: [pathname.split('/').at(-1) ?? ''] })
  }
}

/** What clients do with a capture afterwards; after a deletion, everything that could still show it. */
const after = async (client: Client, id: string, { followUp }: PlannedStep, untilMs: number): Promise<void> => {
  const read = (operation: 'image' | 'status') => client.call(readCall(operation, id))
  const list = () => client.call(listCall)
  const remove = () =>
    client.insist({ operation: 'delete', method: 'DELETE', path: `/v1/screenshots/${id}`, target: id }, untilMs)
  const link = () =>
    client.insist(
      { operation: 'link', method: 'POST', path: `/v1/screenshots/${id}/signed-url`, body: {}, target: id },
      untilMs,
    )
  const readLink = async (url: unknown) =>
    typeof url === 'string' && void (await client.call({ operation: 'linked-image', path: url, target: id }))
  if (followUp === 'delete-early') {
    await remove()
    await read('status')
    return
  }
  await client.awaitEnd(id, untilMs)
  if (followUp === 'download') await read('image')
  if (followUp === 'list') await list()
  if (followUp !== 'link' && followUp !== 'delete') return
  const { data } = await link()
  await readLink(data?.['url'])
  if (followUp === 'link') return
  await remove()
  await Promise.all([read('status'), read('image'), readLink(data?.['url']), list()])
}

/** A capture of a link is left to its link. */
const followUpOf = ({ operation, followUp }: PlannedStep): PlannedStep['followUp'] =>
  operation === 'view' && followUp.startsWith('delete') ? 'download' : followUp

/** Runs the load of a plan; returns once its clients have finished. Each waits until `untilMs` at most. */
export const runLoad = async (world: World, clients: Clients, plan: Plan, untilMs: number): Promise<void> => {
  const statusOf = (path: string, nth: number) => {
    if (path.startsWith('/dead/')) return 500
    return path.startsWith('/twice/') && nth <= 2 ? 500 : 200
  }
  world.answerWebhooks(({ path }, nth) => statusOf(path, nth))
  world.answerUploads(({ key }, nth) => statusOf(`/${key}`, nth))
  const runStep = async (planned: PlannedStep, index: number) => {
    await delay(planned.atMs)
    const name = `${plan.seed}-${index}`
    const [client, ids] = await begin({ world, clients, name, untilMs, planned })
    const step = { ...planned, followUp: followUpOf(planned) }
    const more = async (id: string) => {
      await after(client, id, step, untilMs)
      if (planned.operation === 'files') await readFiles(client, id)
    }
    await Promise.all([client.call(listCall), ...ids.map(more)])
  }
  await Promise.all(plan.load.map(runStep))
}

/** Reads once more what every account shows at the end. */
export const readAtEnd = async (clients: Clients, untilMs: number): Promise<void> => {
  const readAll = async (client: Client) => {
    await client.insist(listCall, untilMs)
    await client.insist({ operation: 'usage', path: '/v1/account/usage' }, untilMs)
  }
  await Promise.all(allClients(clients).map(readAll))
}
