import t from 'tap'
import type { KubeApi } from '#shared/kube/client.ts'
import { KubeError } from '#shared/kube/kube-error.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { createHandClock } from '#test/helpers/hand-clock.ts'
import { createScriptedApi } from '#test/helpers/scripted-api.ts'
import { asKubeApi } from '#test/helpers/object-api.ts'

const pods = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' }
const pod = (name: string, version: number) => {
  return { metadata: { namespace: 'n', name, uid: name, resourceVersion: String(version) } }
}
const bookmark = (version: number) => {
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } } as const
}
const page = (items: KubeObject[], version: number) => () => ({ items, resourceVersion: String(version) })
const gone = () => new KubeError('gone', { message: 'too old' })
const reset = () => new KubeError('unavailable', { message: 'reset' })

const createScripted = () => ({ clock: createHandClock(), ...createScriptedApi() })

const setUp = (random = 0) => {
  const { clock, ...scripted } = createScripted()
  const changes: string[] = []
  const ends: [string, number][] = []
  const create = () =>
    new Reflector<KubeObject>(
      {
        api: scripted.api,
        clock,
        random: () => random,
        changed: ({ kind, key }) => changes.push(`${kind} ${key}`),
        events: { listed: () => {}, ended: (end, waitMs) => ends.push([end, waitMs]) },
      },
      { resource: pods, labelSelector: 'a=b' },
    )
  const names = (reflector: Reflector<KubeObject>) => reflector.all().map(({ metadata }) => metadata?.name)
  return { clock, ...scripted, changes, ends, create, names }
}

t.test('reflector: reads all pages, then watches from the version of the list with bookmarks', async (t) => {
  const { clock, lists, listCalls: asked, watches, changes, create, names } = setUp(0.5)
  lists.push(() => ({ items: [pod('a', 1)], resourceVersion: '9', continueAt: 'x' }), page([pod('b', 2)], 9))
  await using reflector = create()
  t.notOk(reflector.hasSynced)
  await clock.advance(0)
  t.ok(reflector.hasSynced)
  t.match(asked, [
    { labelSelector: 'a=b', limit: 500 },
    { labelSelector: 'a=b', limit: 500, continueAt: 'x' },
  ])
  t.match(watches[0]?.query, { labelSelector: 'a=b', resourceVersion: '9', timeoutSeconds: 360 })
  t.strictSame(names(reflector), ['a', 'b'])
  t.strictSame(changes, ['added n/a', 'added n/b'])
})

t.test('reflector: applies events, and ignores repeats and late events, also of deleted objects', async (t) => {
  const { clock, lists, watches, changes, create, names } = setUp()
  lists.push(page([pod('a', 1)], 9))
  await using reflector = create()
  await clock.advance(0)
  const watch = watches[0]!
  watch.send({ type: 'ADDED', object: pod('b', 11) })
  watch.send({ type: 'MODIFIED', object: pod('a', 13) })
  watch.send({ type: 'MODIFIED', object: pod('a', 12) })
  watch.send({ type: 'MODIFIED', object: pod('a', 13) })
  watch.send({ type: 'DELETED', object: pod('b', 14) })
  watch.send({ type: 'MODIFIED', object: pod('b', 12) })
  watch.send({ type: 'DELETED', object: pod('a', 10) })
  await clock.advance(0)
  t.strictSame(names(reflector), ['a'])
  t.equal(reflector.get('n/a')?.metadata?.resourceVersion, '13')
  t.strictSame(changes, ['added n/a', 'added n/b', 'updated n/a', 'deleted n/b'])
})

t.test('reflector: resumes from the last event or bookmark when a watch ends or breaks', async (t) => {
  const { clock, lists, watches, ends, create } = setUp()
  lists.push(page([], 9))
  await using _reflector = create()
  await clock.advance(0)
  watches[0]?.send({ type: 'ADDED', object: pod('b', 11) })
  watches[0]?.end()
  await clock.advance(500)
  t.equal(watches[1]?.query.resourceVersion, '11')
  watches[1]?.send(bookmark(40))
  watches[1]?.fail(reset())
  await clock.advance(500)
  t.equal(watches[2]?.query.resourceVersion, '40')
  t.strictSame(ends, [
    ['closed', 500],
    ['failed', 500],
  ])
})

t.test(
  'reflector: lists again after a refused connection, as the server may have been restored from a backup',
  async (t) => {
    const { clock, lists, watches, ends, create, names } = setUp()
    lists.push(page([pod('a', 9)], 9))
    await using reflector = create()
    await clock.advance(0)
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    watches[0]?.fail(new KubeError('unavailable', { message: 'refused', cause: refused }))
    lists.push(page([pod('b', 4)], 5))
    await clock.advance(500)
    t.equal(watches[1]?.query.resourceVersion, '5')
    t.strictSame(names(reflector), ['b'])
    t.strictSame(ends, [['failed', 500]])
  },
)

t.test('reflector: lists again when its version is too old, and reports objects deleted meanwhile', async (t) => {
  const { clock, lists, watches, changes, create, names } = setUp()
  lists.push(page([pod('a', 1), pod('b', 2)], 9), page([pod('b', 2), pod('c', 30)], 40))
  await using reflector = create()
  await clock.advance(0)
  changes.length = 0
  watches[0]?.fail(gone())
  await clock.advance(500)
  t.strictSame(names(reflector), ['b', 'c'])
  t.strictSame(changes, ['deleted n/a', 'added n/c'])
  t.equal(watches[1]?.query.resourceVersion, '40')
})

t.test('reflector: keeps the old copy until the new list is complete', async (t) => {
  const { clock, lists, watches, create, names } = setUp()
  lists.push(page([pod('a', 1)], 9))
  await using reflector = create()
  await clock.advance(0)
  lists.push(
    () => ({ items: [pod('c', 30)], resourceVersion: '40', continueAt: 'x' }),
    () => {
      throw gone()
    },
  )
  watches[0]?.fail(gone())
  await clock.advance(500)
  t.strictSame(names(reflector), ['a'])
  lists.push(page([pod('c', 30)], 50))
  await clock.advance(1000)
  t.strictSame(names(reflector), ['c'])
})

t.test('reflector: accepts a list of older versions, as the server was restored from a backup', async (t) => {
  const { clock, lists, watches, create } = setUp()
  lists.push(page([pod('a', 100), pod('b', 100)], 100), page([pod('a', 50)], 50))
  await using reflector = create()
  await clock.advance(0)
  watches[0]?.send({ type: 'DELETED', object: pod('b', 110) })
  watches[0]?.fail(gone())
  await clock.advance(500)
  watches[1]?.send({ type: 'MODIFIED', object: pod('a', 60) })
  watches[1]?.send({ type: 'ADDED', object: pod('b', 61) })
  await clock.advance(0)
  t.equal(reflector.get('n/a')?.metadata?.resourceVersion, '60')
  t.equal(reflector.get('n/b')?.metadata?.resourceVersion, '61')
})

t.test('reflector: closes a watch that was silent for 90 s, and lists again', async (t) => {
  const { clock, lists, watches, ends, create, names } = setUp()
  lists.push(page([], 9), page([pod('a', 1)], 9))
  await using reflector = create()
  await clock.advance(80_000)
  watches[0]?.send(bookmark(10))
  await clock.advance(89_000)
  t.equal(watches.length, 1)
  await clock.advance(2000)
  t.strictSame(ends, [['silent', 500]])
  t.equal(watches.length, 2)
  t.strictSame(names(reflector), ['a'])
})

t.test('reflector: backs off after each failure, up to 30 s, and resets after the first event', async (t) => {
  const { clock, lists, watches, ends, create } = setUp(0.999)
  await using _reflector = create()
  await clock.advance(400_000)
  const waits = ends.map(([, waitMs]) => Math.round(waitMs / 500) / 2)
  t.strictSame(waits.slice(0, 7), [1, 2, 4, 8, 16, 30, 30])
  lists.push(page([], 9))
  await clock.advance(30_000)
  watches.at(-1)?.send(bookmark(10))
  watches.at(-1)?.fail(reset())
  await clock.advance(0)
  t.match(ends.at(-1), ['failed', Number])
  t.ok((ends.at(-1)?.[1] ?? 0) < 1000)
})

t.test('reflector: does not back off after watches that end without events', async (t) => {
  const { clock, lists, watches, ends, create } = setUp()
  lists.push(page([], 9))
  await using _reflector = create()
  for (let watch = 0; watch < 6; watch += 1) {
    await clock.advance(20_000)
    watches.at(-1)?.end()
    await clock.advance(500)
  }
  t.strictSame(
    ends.map(([, waitMs]) => waitMs),
    [500, 500, 500, 500, 500, 500],
  )
})

t.test('reflector: waits for the Retry-After of the server', async (t) => {
  const { clock, lists, ends, create } = setUp()
  lists.push(() => {
    throw new KubeError('too-many-requests', { message: 'busy', retryAfterSeconds: 17 })
  })
  await using _reflector = create()
  await clock.advance(0)
  t.strictSame(ends, [['failed', 17_000]])
})

t.test('reflector: sends no requests once disposed', async (t) => {
  const { clock, lists, listCalls: asked, watches, ends, create } = setUp()
  lists.push(page([], 9))
  const watching = create()
  await clock.advance(0)
  await watching[Symbol.asyncDispose]()
  const waiting = create()
  await clock.advance(0)
  await waiting[Symbol.asyncDispose]()
  await clock.advance(1_000_000)
  t.equal(asked.length, 2)
  t.equal(watches.length, 1)
  t.equal(ends.length, 1)
})

t.test('reflector: downMs is 0 while a watch is open, and counts from its end', async (t) => {
  const { clock, lists, watches, create } = setUp()
  lists.push(page([], 1))
  await using reflector = create()
  t.equal(reflector.downMs(), 0)
  await clock.advance(0)
  t.equal(watches.length, 1)
  await clock.advance(5000)
  t.equal(reflector.downMs(), 0)
  watches[0]!.fail(reset())
  await clock.advance(300)
  t.equal(reflector.downMs(), 300)
  await clock.advance(200)
  t.equal(watches.length, 2)
  t.equal(reflector.downMs(), 0)
})

t.test('reflector: downMs counts until the first list was read', async (t) => {
  const { clock, create } = setUp()
  await using reflector = create()
  await clock.advance(3000)
  t.equal(reflector.downMs(), 3000)
})

t.test('reflector: downMs counts until the server has begun to respond to the watch', async (t) => {
  const clock = createHandClock()
  const { promise: never } = Promise.withResolvers<never>()
  let open = () => {}
  const api = asKubeApi({
    list: async () => ({ items: [], resourceVersion: '1' }),
    watch: async function* (...[, , , opened = () => {}]: Parameters<KubeApi['watch']>) {
      open = opened
      yield await never
    },
  })
  const events = { listed: () => {}, ended: () => {} }
  const reflector = new Reflector<KubeObject>(
    { api, clock, random: () => 0, changed: () => {}, events },
    { resource: pods },
  )
  await clock.advance(7000)
  t.equal(reflector.downMs(), 7000)
  open()
  t.equal(reflector.downMs(), 0)
})

t.test('reflector: keeps trimmed objects only, from lists and from watches', async (t) => {
  const { clock, api, lists, watches } = createScripted()
  lists.push(page([{ ...pod('a', 1), spec: 'large' } as KubeObject], 9))
  const changes: KubeObject[] = []
  await using reflector = new Reflector<KubeObject>(
    {
      api,
      clock,
      random: () => 0,
      trim: ({ metadata }) => (metadata ? { metadata } : {}),
      changed: ({ object }) => changes.push(object),
      events: { listed: () => {}, ended: () => {} },
    },
    { resource: pods },
  )
  await clock.advance(0)
  watches[0]!.send({ type: 'MODIFIED', object: { ...pod('a', 10), spec: 'larger' } as KubeObject })
  await clock.advance(0)
  t.strictSame(reflector.all(), [pod('a', 10)])
  t.strictSame(changes, [pod('a', 1), pod('a', 10)])
})
