import { apply } from '#controller/kube/apply.ts'
import type { Patch } from '#shared/kube/client.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import {
  allOf,
  find,
  limit,
  namespace,
  refOf,
  outcome,
  fieldManagersOf,
  resources,
  type Scenario,
  type Environment,
} from './conformance.ts'
import type { Stored } from './object.ts'
import type { KubeObject } from '#shared/kube/resource.ts'

const { maps } = resources
const collection = allOf(maps)
const newMap = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: '1' },
  ...more,
})
/** Creates an object, and returns it with what the server added. */
const create = async (api: Environment['api'], object: KubeObject) => (await api.create(collection, object)) as Stored

const merge = (body: object, fieldManager = 'other-manager'): Patch => ({ kind: 'merge', body, fieldManager })
const applied = (body: object, fieldManager: string, force: boolean): Patch => ({
  kind: 'apply',
  body: { apiVersion: 'v1', kind: 'ConfigMap', ...body },
  fieldManager,
  force,
})

const rejections = async ({ api }: Environment) => {
  const created = await create(api, newMap('refused'))
  const ref = refOf(maps, 'refused')
  const version = created.metadata.resourceVersion
  const json = (...body: object[]): Patch => ({ kind: 'json', body })
  const outcomes: string[] = []
  const record = async (what: string, request: Promise<unknown>) => outcomes.push(`${what}: ${await outcome(request)}`)
  await record('again', api.create(collection, newMap('refused')))
  await record('no name', api.create(collection, newMap('No Name')))
  await record('versioned', api.create(collection, newMap('v', { metadata: { name: 'v', resourceVersion: '1' } })))
  await record('get nothing', api.get(refOf(maps, 'nothing')))
  await record('patch nothing', api.patch(refOf(maps, 'nothing'), merge({ data: { a: '2' } })))
  await record('remove nothing', api.remove(refOf(maps, 'nothing')))
  await record('patch', api.patch(ref, merge({ data: { a: '2' } })))
  await record('old version', api.patch(ref, merge({ metadata: { resourceVersion: version }, data: { a: '3' } })))
  await record('other uid', api.patch(ref, merge({ metadata: { uid: 'another' }, data: { a: '3' } })))
  await record('label', api.patch(ref, merge({ metadata: { labels: { a: 'not a value' } } })))
  await record('test', api.patch(ref, json({ op: 'test', path: '/data/a', value: '9' })))
  await record('remove field', api.patch(ref, json({ op: 'remove', path: '/data/nothing' })))
  await record('replace field', api.patch(ref, json({ op: 'replace', path: '/data/nothing', value: 'x' })))
  await record('add below', api.patch(ref, json({ op: 'add', path: '/nothing/below', value: 'x' })))
  await record('test version', api.patch(ref, json({ op: 'test', path: '/metadata/resourceVersion', value: version })))
  await record('no scale', api.patch({ ...ref, subresource: 'scale' }, merge({ spec: { replicas: 1 } })))
  await record('remove another', api.remove(ref, { uid: 'another' }))
  await record('remove', api.remove(ref, { uid: created.metadata.uid }))
  await record('no kind', api.list({ resource: { ...maps, plural: 'nothings' }, namespace }, { limit: 1 }))
  return outcomes
}

const changes = async ({ api }: Environment) => {
  const ref = refOf(maps, 'changed')
  const first = await create(api, newMap('changed'))
  const same = await api.patch<Stored>(ref, merge({ data: { a: '1' } }))
  const other = await api.patch<Stored>(ref, {
    kind: 'json',
    body: [
      { op: 'add', path: '/data/b', value: '2' },
      { op: 'replace', path: '/data/a', value: '3' },
    ],
  })
  const less = await api.patch<Stored>(ref, merge({ data: { b: null } }))
  return {
    isUntouched: same.metadata.resourceVersion === first.metadata.resourceVersion,
    isNewer: BigInt(other.metadata.resourceVersion) > BigInt(first.metadata.resourceVersion),
    data: [other['data'], less['data']],
    generation: less.metadata.generation ?? 'none',
  }
}

const applying = async ({ api }: Environment) => {
  const ref = refOf(maps, 'applied')
  const meta = { metadata: { name: 'applied' } }
  const owners = (object: Stored) => ['a', 'b', 'c'].map((field) => fieldManagersOf(object, `f:data f:${field}`))
  const created = await api.patch<Stored>(ref, applied({ ...meta, data: { a: '1', b: '1' } }, 'one', false))
  const clash = await outcome(api.patch(ref, applied({ ...meta, data: { a: '2' } }, 'two', false)))
  const shared = await api.patch<Stored>(ref, applied({ ...meta, data: { a: '1', c: '1' } }, 'two', false))
  const forced = await api.patch<Stored>(ref, applied({ ...meta, data: { a: '2', c: '1' } }, 'two', true))
  const edited = await api.patch<Stored>(ref, merge({ data: { b: '9' } }, 'three'))
  const unchanged = await api.patch<Stored>(ref, applied({ ...meta, data: {} }, 'one', false))
  const gone = await api.patch<Stored>(ref, applied({ ...meta, data: { c: '1' } }, 'two', false))
  const again = await api.patch<Stored>(ref, applied({ ...meta, data: { c: '1' } }, 'two', false))
  const ours = await apply<Stored>(api, ref, { data: { b: '4' } })
  return {
    clash,
    owners: [created, shared, forced, edited, unchanged, gone, ours].map(owners),
    data: [created, shared, forced, edited, unchanged, gone, ours].map((object) => object['data']),
    isUntouched: again.metadata.resourceVersion === gone.metadata.resourceVersion,
  }
}

const quota = async (environment: Environment) => {
  const { api } = environment
  await limit(environment, 'no-maps', { 'count/configmaps': '0' })
  const results = [
    await outcome(api.create(collection, newMap('too-many'))),
    await outcome(api.patch(refOf(maps, 'too-many'), applied({ metadata: { name: 'too-many' } }, 'one', true))),
  ]
  await api.remove(refOf(resources.quotas, 'no-maps'))
  return results
}

const paging = async ({ api }: Environment) => {
  for (const name of ['p1', 'p2', 'p3'])
    await api.create(collection, newMap(name, { metadata: { name, labels: { page: 'yes' } } }))
  const query = { limit: 2, labelSelector: 'page=yes' }
  const first = await api.list<Stored>(collection, query)
  await api.remove(refOf(maps, 'p3'))
  const second = await api.list<Stored>(collection, { ...query, continueAt: first.continueAt ?? '' })
  const nowhere = await api.list<Stored>(collection, { limit: 2, labelSelector: 'page in (no, never)' })
  return {
    names: [first, second, nowhere].map(({ items }) => items.map(({ metadata }) => metadata.name)),
    isOneVersion: first.resourceVersion === second.resourceVersion,
    hasEnd: second.continueAt === undefined,
    kind: first.items[0]?.kind ?? 'none',
  }
}

const watching = async ({ api, until }: Environment) => {
  const { resourceVersion } = await api.list(collection, { limit: 1 })
  const stop = new AbortController()
  const events: string[] = []
  const watch = async () => {
    const query = { resourceVersion, timeoutSeconds: 60, labelSelector: 'watched=yes' }
    for await (const event of api.watch<Stored>(collection, query, stop.signal))
      if (event.type !== 'BOOKMARK') events.push(`${event.type} ${event.object.metadata.name} ${event.object.kind}`)
  }
  const watched = outcome(watch())
  const labels = (value: string | null) => merge({ metadata: { labels: { watched: value } } })
  await api.create(collection, newMap('w1'))
  await api.patch(refOf(maps, 'w1'), labels('yes'))
  await api.patch(refOf(maps, 'w1'), merge({ data: { a: '2' } }))
  await api.patch(refOf(maps, 'w1'), labels(null))
  await api.patch(refOf(maps, 'w1'), labels('yes'))
  await api.remove(refOf(maps, 'w1'))
  await until('all events have arrived', async () => events.length >= 5)
  stop.abort()
  return { events, end: await watched }
}

const goingBack = async ({ api, undo, until }: Environment) => {
  const ref = refOf(maps, 'undone')
  const before = await create(api, newMap('stays'))
  let late = ''
  await undo(async () => {
    await api.create(collection, newMap('undone'))
    for (let turn = 0; turn < 30; turn += 1)
      late = (await api.patch<Stored>(ref, merge({ data: { a: `${turn}` } }))).metadata.resourceVersion
  })
  const stays = await api.get<Stored>(refOf(maps, 'stays'))
  const fresh = await create(api, newMap('undone'))
  const firstEvent = async (resourceVersion: string) => {
    const signal = new AbortController().signal
    for await (const event of api.watch<Stored>(collection, { resourceVersion, timeoutSeconds: 2 }, signal))
      if (event.type !== 'BOOKMARK') return `${event.type} ${event.object.metadata.name}`
    return 'silence'
  }
  const watchFrom = async (resourceVersion: string) => {
    let version: string | undefined
    const record = (words: string) => (version = words)
    firstEvent(resourceVersion).then(record, (thrown: unknown) => record(String(outcomeOf(thrown))))
    await until('the watch has an event, or has ended', async () => version !== undefined)
    return version
  }
  return {
    isSame: stays.metadata.resourceVersion === before.metadata.resourceVersion,
    isBehind: BigInt(fresh.metadata.resourceVersion) < BigInt(late),
    fromYetToCome: await watchFrom(late),
    fromLongAgo: await watchFrom('1'),
    fromNow: await watchFrom(String(BigInt(fresh.metadata.resourceVersion) - 1n)),
  }
}

const finalizers = async ({ api }: Environment) => {
  const ref = refOf(maps, 'held')
  await api.create(collection, newMap('held', { metadata: { name: 'held', finalizers: ['example.com/hold'] } }))
  await api.remove(ref)
  const held = await api.get<Stored>(ref)
  await api.patch(ref, merge({ metadata: { finalizers: null } }))
  return { isDeleted: held.metadata.deletionTimestamp !== undefined, after: (await find(api, ref)) ?? 'gone' }
}

/** Behaviour common to all kinds. */
export const objectScenarios: readonly Scenario[] = [
  { name: 'rejects invalid requests with the same reasons', run: rejections },
  { name: 'writes nothing for a patch without changes', run: changes },
  { name: 'applies, shares, takes over and removes fields', run: applying },
  { name: 'enforces a quota', run: quota },
  { name: 'lists pages of one resourceVersion', run: paging },
  { name: 'sends events to a watch for objects that enter and leave its selector', run: watching },
  { name: 'keeps an object until its finalizers are removed', run: finalizers },
  { name: 'continues from a restored snapshot', run: goingBack },
]
