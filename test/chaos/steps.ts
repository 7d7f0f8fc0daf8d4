import { destination, type Clients } from './accounts.ts'
import { captureCall, createCall, source, timeout } from './calls.ts'
import type { Call, Called, Client } from './client.ts'
import { createFurtherKey, signIn, signOutCall, useAndEnd } from './credentials.ts'
import type { PlannedStep } from './plan.ts'
import type { World } from './world.ts'

/** A step with what it works with; `name` differs for each of all runs. */
export type Step = {
  readonly world: World
  readonly clients: Clients
  readonly name: string
  readonly untilMs: number
  readonly planned: PlannedStep
}

/** The client that a step used, and the captures that it created. */
export type Begun = readonly [client: Client, ids: readonly string[]]

const plainOf = ({ clients: { plain }, planned }: Step): Client => plain[planned.account % plain.length]!

const insistAll = async (client: Client, { untilMs }: Step, ...calls: readonly Call[]): Promise<Begun> => {
  const called = await Promise.all(calls.map((call) => client.insist(call, untilMs)))
  return [client, [...new Set(called.flatMap(({ captures }: Called) => captures.map(({ id }) => id)))]]
}

const create = ({ world, planned, name }: Step, body: object = {}, key = name): Call =>
  createCall('/v1/screenshots', 'create', { ...source(world, planned.source, name), ...body }, key)

/** A link's first views: two at once, and one more. */
const view = async (step: Step): Promise<Begun> => {
  const { clients, name, untilMs, world } = step
  const path = clients.sign({ url: `${world.siteUrl}/${name}`, timeout: String(timeout) })
  const call: Call = { operation: 'render', path, link: name }
  const [, ids] = await insistAll(clients.links, step, call, call)
  const { captures } = await clients.links.insist(call, untilMs)
  return [clients.links, [...new Set([...ids, ...captures.map(({ id }) => id)])]]
}

const using = (step: Step) => ({ ...step, client: plainOf(step) })

/** What each operation of a plan requests. */
export const operations: Readonly<Record<PlannedStep['operation'], (step: Step) => Promise<Begun>>> = {
  create: (step) => insistAll(plainOf(step), step, create(step)),
  webhook: (step) => {
    const webhook = `/${step.planned.receiver}/${step.name}`
    const call = create(step, { webhook_url: step.world.receiverUrl + webhook })
    return insistAll(plainOf(step), step, { ...call, webhook })
  },
  capture: (step) => insistAll(plainOf(step), step, captureCall(step.world, step.name)),
  batch: (step) => {
    const urls = [0, 1, 2].map((n) => `${step.world.siteUrl}/${step.name}-${n}`)
    return insistAll(plainOf(step), step, createCall('/v1/screenshots/batch', 'batch', { urls }, step.name))
  },
  repeat: (step) => insistAll(plainOf(step), step, create(step), create(step)),
  shared: (step) => {
    const more = { cache_ttl: 60 }
    return insistAll(plainOf(step), step, create(step, more), create(step, more, `${step.name}-b`))
  },
  quota: (step) => insistAll(step.clients.edge, step, create(step)),
  brief: (step) => insistAll(step.clients.brief, step, create(step)),
  upload: (step) => {
    const upload = { upload_to: destination, upload_key: `${step.planned.receiver}/{id}.{format}` }
    return insistAll(step.clients.uploads, step, create(step, upload))
  },
  hooked: (step) => insistAll(step.clients.hooked, step, create(step)),
  files: (step) => {
    const files = { outputs: ['text', 'html'], renditions: [{ format: 'jpeg' }] }
    return insistAll(plainOf(step), step, { ...create(step, files), files: ['text', 'html', 'rendition-1'] })
  },
  view,
  session: async (step) => {
    const use = using(step)
    const session = await signIn(use)
    const calls = { create: create(step), end: { ...signOutCall, as: session } }
    return [use.client, session ? await useAndEnd(use, session, calls) : []]
  },
  key: async (step) => {
    const use = using(step)
    const created = await createFurtherKey(use)
    return [use.client, created ? await useAndEnd(use, created.key, { create: create(step), end: created.revoke }) : []]
  },
  // Of HTML alone: what it loads is captured by one cell or the other, and a pause is one cell's.
  moved: (step) => {
    const html = { html: `<h1>${step.name}</h1>` }
    return insistAll(step.clients.moved, step, createCall('/v1/screenshots', 'create', html, step.name))
  },
}

/** Requests what a step plans. */
export const begin = (step: Step): Promise<Begun> => operations[step.planned.operation](step)
