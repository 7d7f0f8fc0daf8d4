import { setTimeout as delay } from 'node:timers/promises'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { readPrivate, dataPaths } from '#local/data-folder.ts'
import type { Secrets } from '#local/secrets.ts'
import { type Call, type Called, type Client, createClient } from './client.ts'
import type { Exchange } from './history.ts'
import type { Plan, PlannedStep } from './plan.ts'
import type { World } from './world.ts'

/** Page load time-out of the captures, in seconds. */
const timeout = 8
/** Budget of an attempt of the captures. */
export const budgetMs = attemptBudgetMs({ timeout, delay: 0 })

/** The clients of a run, one for each of its accounts. */
export type Clients = Readonly<Record<'plain' | 'edge' | 'brief', Client>>

/** Creates the accounts of a run. */
export const createClients = async (world: World, record: (exchange: Exchange) => void): Promise<Clients> => {
  const { database, system, dataDir } = world
  const pepper = (await readPrivate<Secrets>(dataPaths(dataDir).secrets))?.keyPepper ?? ''
  const create = async (plan: string) => {
    const { id } = await createAccount(database, { name: 'chaos', email: 'chaos@example.com', plan })
    const { key } = await createKey(database, { accountId: id, name: '', domains: [], pepper })
    return createClient(system.baseUrl, { id, key, hasRetention: plan === 'brief' }, record)
  }
  return { plain: await create('unlimited'), edge: await create('edge'), brief: await create('brief') }
}

const source = ({ siteUrl }: World, kind: PlannedStep['source'], name: string) =>
  kind === 'html' ? { html: `<h1>${name}</h1>` } : { url: `${siteUrl}/${name}` }

/** A request that creates captures; `idempotencyKey` makes it repeatable. */
export const createCall = (path: string, operation: Call['operation'], body: object, idempotencyKey: string): Call => ({
  operation,
  method: 'POST',
  path,
  body: { ...body, timeout },
  idempotencyKey,
  budgetMs,
})

/** A synchronous capture of the site's page `name`. */
export const captureCall = (world: World, name: string): Call =>
  createCall('/v1/screenshots/capture', 'capture', source(world, 'site', name), name)

const listIds = ({ captures }: Called) => captures.map(({ id }) => id)

type Step = { readonly world: World; readonly clients: Clients; readonly name: string; readonly untilMs: number }

/** Creates what a step wants; returns the client and the ids. */
const begin = async (
  { world, clients, name, untilMs }: Step,
  step: PlannedStep,
): Promise<readonly [Client, string[]]> => {
  const from = source(world, step.source, name)
  const { plain, edge } = clients
  const create = (body: object = {}, key = name) => createCall('/v1/screenshots', 'create', { ...from, ...body }, key)
  const insistBoth = async (...calls: readonly Call[]) => [
    ...new Set((await Promise.all(calls.map((call) => plain.insist(call, untilMs)))).flatMap(listIds)),
  ]
  switch (step.operation) {
    case 'create':
      return [plain, await insistBoth(create())]
    case 'webhook': {
      const webhook = `/${step.receiver}/${name}`
      return [plain, await insistBoth({ ...create({ webhook_url: world.receiverUrl + webhook }), webhook })]
    }
    case 'capture':
      return [plain, await insistBoth(createCall('/v1/screenshots/capture', 'capture', from, name))]
    case 'batch': {
      const urls = [0, 1, 2].map((n) => `${world.siteUrl}/${name}-${n}`)
      return [plain, await insistBoth(createCall('/v1/screenshots/batch', 'batch', { urls }, name))]
    }
    case 'repeat':
      return [plain, await insistBoth(create(), create())]
    case 'shared':
      return [plain, await insistBoth(create({ cache_ttl: 60 }), create({ cache_ttl: 60 }, `${name}-b`))]
    case 'quota':
      return [edge, listIds(await edge.insist(create(), untilMs))]
  }
}

/** The newest hundred captures of an account. */
export const listCall: Call = { operation: 'list', path: '/v1/screenshots?per_page=100' }

const imagePath = (id: string) => `/v1/screenshots/${id}/image`

/** What clients do with a capture afterwards; after a deletion, everything that could still show it. */
const after = async (client: Client, id: string, { followUp }: PlannedStep, untilMs: number): Promise<void> => {
  const read = (operation: 'image' | 'status') =>
    client.call({ operation, path: operation === 'image' ? imagePath(id) : `/v1/screenshots/${id}`, target: id })
  const list = () => client.call(listCall)
  const remove = () =>
    client.insist({ operation: 'delete', method: 'DELETE', path: `/v1/screenshots/${id}`, target: id }, untilMs)
  const link = () =>
    client.insist(
      { operation: 'link', method: 'POST', path: `/v1/screenshots/${id}/signed-url`, body: {}, target: id },
      untilMs,
    )
  const readLink = async (url: string | undefined) =>
    url !== undefined && void (await client.call({ operation: 'linked-image', path: url, target: id }))
  if (followUp === 'delete-early') {
    await remove()
    await read('status')
    return
  }
  await client.awaitEnd(id, untilMs)
  if (followUp === 'download') await read('image')
  if (followUp === 'list') await list()
  if (followUp !== 'link' && followUp !== 'delete') return
  const { url } = await link()
  await readLink(url)
  if (followUp === 'link') return
  await remove()
  await Promise.all([read('status'), read('image'), readLink(url), list()])
}

/** Runs the load of a plan; returns once its clients have finished. Each waits until `untilMs` at most. */
export const runLoad = async (world: World, clients: Clients, plan: Plan, untilMs: number): Promise<void> => {
  world.answerWebhooks(({ path }, nth) => {
    if (path.startsWith('/dead/')) return 500
    return path.startsWith('/twice/') && nth <= 2 ? 500 : 200
  })
  const runStep = async (step: PlannedStep, index: number) => {
    await delay(step.atMs)
    const name = `${plan.seed}-${index}`
    const [client, ids] = await begin({ world, clients, name, untilMs }, step)
    await Promise.all([client.call(listCall), ...ids.map((id) => after(client, id, step, untilMs))])
  }
  await Promise.all(plan.load.map(runStep))
}

/** Reads once more what every account shows at the end. */
export const readAtEnd = async (clients: Clients, untilMs: number): Promise<void> => {
  for (const client of Object.values(clients)) {
    await client.insist(listCall, untilMs)
    await client.insist({ operation: 'usage', path: '/v1/account/usage' }, untilMs)
  }
}
