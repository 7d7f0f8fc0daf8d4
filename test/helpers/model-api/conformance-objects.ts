import { apply } from '#controller/kube/apply.ts'
import type { Patch } from '#shared/kube/client.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import {
  allOf,
  find,
  limit,
  namespace,
  one,
  outcome,
  queueOwners,
  resources,
  type Scenario,
  type Stage,
} from './conformance.ts'
import type { Stored } from './object.ts'

const { maps } = resources
const within = allOf(maps)
const newMap = (name: string, more: object = {}) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...more }) as unknown as Stored

const merge = (body: object, fieldManager = 'somebody'): Patch => ({ kind: 'merge', body, fieldManager })
const applied = (body: object, fieldManager: string, force: boolean): Patch => ({
  kind: 'apply',
  body: { apiVersion: 'v1', kind: 'ConfigMap', ...body },
  fieldManager,
  force,
})

const refusals = async ({ api }: Stage) => {
  const made = await api.create(within, newMap('refused'))
  const ref = one(maps, 'refused')
  const version = made.metadata.resourceVersion
  const json = (...body: object[]): Patch => ({ kind: 'json', body })
  const seen: string[] = []
  const note = async (what: string, request: Promise<unknown>) => seen.push(`${what}: ${await outcome(request)}`)
  await note('again', api.create(within, newMap('refused')))
  await note('no name', api.create(within, newMap('No Name')))
  await note('versioned', api.create(within, newMap('v', { metadata: { name: 'v', resourceVersion: '1' } })))
  await note('get nothing', api.get(one(maps, 'nothing')))
  await note('patch nothing', api.patch(one(maps, 'nothing'), merge({ data: { a: '2' } })))
  await note('remove nothing', api.remove(one(maps, 'nothing')))
  await note('patch', api.patch(ref, merge({ data: { a: '2' } })))
  await note('old version', api.patch(ref, merge({ metadata: { resourceVersion: version }, data: { a: '3' } })))
  await note('other uid', api.patch(ref, merge({ metadata: { uid: 'another' }, data: { a: '3' } })))
  await note('label', api.patch(ref, merge({ metadata: { labels: { a: 'not a value' } } })))
  await note('test', api.patch(ref, json({ op: 'test', path: '/data/a', value: '9' })))
  await note('remove field', api.patch(ref, json({ op: 'remove', path: '/data/nothing' })))
  await note('replace field', api.patch(ref, json({ op: 'replace', path: '/data/nothing', value: 'x' })))
  await note('add below', api.patch(ref, json({ op: 'add', path: '/nothing/below', value: 'x' })))
  await note('test version', api.patch(ref, json({ op: 'test', path: '/metadata/resourceVersion', value: version })))
  await note('no scale', api.patch({ ...ref, subresource: 'scale' }, merge({ spec: { replicas: 1 } })))
  await note('remove another', api.remove(ref, { uid: 'another' }))
  await note('remove', api.remove(ref, { uid: made.metadata.uid }))
  await note('no kind', api.list({ resource: { ...maps, plural: 'nothings' }, namespace }, { limit: 1 }))
  return seen
}

const changes = async ({ api }: Stage) => {
  const ref = one(maps, 'changed')
  const first = await api.create(within, newMap('changed'))
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

const applying = async ({ api }: Stage) => {
  const ref = one(maps, 'applied')
  const meta = { metadata: { name: 'applied' } }
  const owners = (object: Stored) => ['a', 'b', 'c'].map((field) => queueOwners(object, `f:data f:${field}`))
  const made = await api.patch<Stored>(ref, applied({ ...meta, data: { a: '1', b: '1' } }, 'one', false))
  const clash = await outcome(api.patch(ref, applied({ ...meta, data: { a: '2' } }, 'two', false)))
  const shared = await api.patch<Stored>(ref, applied({ ...meta, data: { a: '1', c: '1' } }, 'two', false))
  const forced = await api.patch<Stored>(ref, applied({ ...meta, data: { a: '2', c: '1' } }, 'two', true))
  const edited = await api.patch<Stored>(ref, merge({ data: { b: '9' } }, 'three'))
  const kept = await api.patch<Stored>(ref, applied({ ...meta, data: {} }, 'one', false))
  const gone = await api.patch<Stored>(ref, applied({ ...meta, data: { c: '1' } }, 'two', false))
  const again = await api.patch<Stored>(ref, applied({ ...meta, data: { c: '1' } }, 'two', false))
  const ours = await apply<Stored>(api, ref, { data: { b: '4' } })
  return {
    clash,
    owners: [made, shared, forced, edited, kept, gone, ours].map(owners),
    data: [made, shared, forced, edited, kept, gone, ours].map((object) => object['data']),
    isUntouched: again.metadata.resourceVersion === gone.metadata.resourceVersion,
  }
}

const quota = async (stage: Stage) => {
  const { api } = stage
  await limit(stage, 'no-maps', { 'count/configmaps': '0' })
  const seen = [
    await outcome(api.create(within, newMap('too-many'))),
    await outcome(api.patch(one(maps, 'too-many'), applied({ metadata: { name: 'too-many' } }, 'one', true))),
  ]
  await api.remove(one(resources.quotas, 'no-maps'))
  return seen
}

const paging = async ({ api }: Stage) => {
  for (const name of ['p1', 'p2', 'p3'])
    await api.create(within, newMap(name, { metadata: { name, labels: { page: 'yes' } } }))
  const query = { limit: 2, labelSelector: 'page=yes' }
  const first = await api.list<Stored>(within, query)
  await api.remove(one(maps, 'p3'))
  const second = await api.list<Stored>(within, { ...query, continueAt: first.continueAt ?? '' })
  const nowhere = await api.list<Stored>(within, { limit: 2, labelSelector: 'page in (no, never)' })
  return {
    names: [first, second, nowhere].map(({ items }) => items.map(({ metadata }) => metadata.name)),
    isOneVersion: first.resourceVersion === second.resourceVersion,
    hasEnd: second.continueAt === undefined,
    kind: first.items[0]?.kind ?? 'none',
  }
}

const watching = async ({ api, until }: Stage) => {
  const { resourceVersion } = await api.list(within, { limit: 1 })
  const stop = new AbortController()
  const events: string[] = []
  const watch = async () => {
    const query = { resourceVersion, timeoutSeconds: 60, labelSelector: 'watched=yes' }
    for await (const event of api.watch<Stored>(within, query, stop.signal))
      if (event.type !== 'BOOKMARK') events.push(`${event.type} ${event.object.metadata.name} ${event.object.kind}`)
  }
  const watched = outcome(watch())
  const labels = (value: string | null) => merge({ metadata: { labels: { watched: value } } })
  await api.create(within, newMap('w1'))
  await api.patch(one(maps, 'w1'), labels('yes'))
  await api.patch(one(maps, 'w1'), merge({ data: { a: '2' } }))
  await api.patch(one(maps, 'w1'), labels(null))
  await api.patch(one(maps, 'w1'), labels('yes'))
  await api.remove(one(maps, 'w1'))
  await until('all events have arrived', async () => events.length >= 5)
  stop.abort()
  return { events, end: await watched }
}

const goingBack = async ({ api, undo, until }: Stage) => {
  const ref = one(maps, 'undone')
  const before = await api.create(within, newMap('stays'))
  let late = ''
  await undo(async () => {
    await api.create(within, newMap('undone'))
    for (let turn = 0; turn < 30; turn += 1)
      late = (await api.patch<Stored>(ref, merge({ data: { a: `${turn}` } }))).metadata.resourceVersion
  })
  const stays = await api.get<Stored>(one(maps, 'stays'))
  const fresh = await api.create(within, newMap('undone'))
  const firstEvent = async (resourceVersion: string) => {
    const signal = new AbortController().signal
    for await (const event of api.watch<Stored>(within, { resourceVersion, timeoutSeconds: 2 }, signal))
      if (event.type !== 'BOOKMARK') return `${event.type} ${event.object.metadata.name}`
    return 'silence'
  }
  const watchFrom = async (resourceVersion: string) => {
    let seen: string | undefined
    const record = (words: string) => (seen = words)
    firstEvent(resourceVersion).then(record, (thrown: unknown) => record(String(outcomeOf(thrown))))
    await until('the watch has an event, or has ended', async () => seen !== undefined)
    return seen
  }
  return {
    isSame: stays.metadata.resourceVersion === before.metadata.resourceVersion,
    isBehind: BigInt(fresh.metadata.resourceVersion) < BigInt(late),
    fromYetToCome: await watchFrom(late),
    fromLongAgo: await watchFrom('1'),
    fromNow: await watchFrom(String(BigInt(fresh.metadata.resourceVersion) - 1n)),
  }
}

const finalizers = async ({ api }: Stage) => {
  const ref = one(maps, 'held')
  await api.create(within, newMap('held', { metadata: { name: 'held', finalizers: ['example.com/hold'] } }))
  await api.remove(ref)
  const held = await api.get<Stored>(ref)
  await api.patch(ref, merge({ metadata: { finalizers: null } }))
  return { isDeleted: held.metadata.deletionTimestamp !== undefined, after: (await find(api, ref)) ?? 'gone' }
}

/** Behaviour common to all kinds. */
export const objectScenarios: readonly Scenario[] = [
  { name: 'refuses for the same reasons', play: refusals },
  { name: 'changes nothing where nothing is changed', play: changes },
  { name: 'applies, shares, takes over and removes fields', play: applying },
  { name: 'refuses beyond a quota', play: quota },
  { name: 'lists pages of one moment', play: paging },
  { name: 'tells a watch of what enters and leaves its selection', play: watching },
  { name: 'keeps what a finalizer holds', play: finalizers },
  { name: 'goes back to an older state', play: goingBack },
]
