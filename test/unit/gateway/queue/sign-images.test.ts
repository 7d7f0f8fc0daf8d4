import t from 'tap'
import { signedCodec } from '#shared/queue/messages.ts'
import type { Incoming } from '#shared/queue/connection.ts'
import { isCaptureObjectKey } from '#shared/storage/objects.ts'
import { signImages } from '#gateway/queue/sign-images.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { createSqlDouble } from '#test/helpers/sql-double.ts'

const id = '00000000-0000-4000-8000-000000000000'
const open = [{ createdAt: '2026-11-20T07:00:00.000000Z' }]

/** Responds with the rows of `find`. `request` is a worker's request. */
const signer = (find: (parameters: readonly unknown[]) => Promise<object[]>) => {
  const subscribed = new Map<string, (message: Incoming) => void>()
  const groups: (string | undefined)[] = []
  const responses: { subject: string; put: { key: string; url: string } | undefined }[] = []
  const failures: string[] = []
  const signing = signImages({
    queue: {
      subscribe: (filter, onMessage, group) => {
        subscribed.set(filter, onMessage)
        groups.push(group)
        return { [Symbol.dispose]: () => subscribed.delete(filter) }
      },
      publish: (subject, data) => void responses.push({ subject, put: signedCodec.decode(data).put }),
    },
    database: createSqlDouble((_text, parameters) => find(parameters)),
    objects: { signPut: async (key, seconds) => `http://store/${key}?${seconds}` },
    events: { notSigned: (capture, cause) => void failures.push(`${capture}: ${String(cause)}`) },
  })
  const request = (subject: string, reply: string | undefined = 'inbox') => {
    const [kind, pool] = subject.split('.')
    const message = { subject, reply, data: new Uint8Array(), traceparent: undefined, statusCode: 0 }
    subscribed.get(`${kind}.${pool}.*`)?.(message)
  }
  return { signing, subscribed, groups, responses, failures, request }
}

t.test('sign images: signs a new key of the capture, under the hour of its acceptance, for ten minutes', async (t) => {
  const queries: unknown[] = []
  const { request, responses, groups } = signer(async (parameters) => {
    queries.push(parameters)
    return open
  })
  request(`sign.proxied.${id}`)
  request(`sign.proxied.${id}`)
  await eventually(() => responses.length === 2)
  t.same(
    queries,
    [
      [id, 'proxied'],
      [id, 'proxied'],
    ],
    'for the pool of the subject',
  )
  const [one, two] = responses.map(({ put }) => put)
  if (!one || !two) return t.fail('not signed')
  t.ok(isCaptureObjectKey(id, one.key))
  t.match(one.key, /^captures\/2026-11-20T07\//)
  t.equal(one.url, `http://store/${one.key}?600`)
  t.not(one.key, two.key)
  t.same(groups, ['gateway', 'gateway', 'gateway'], 'one replica responds')
})

t.test('sign images: signs nothing for a capture that is not open', async (t) => {
  const { request, responses } = signer(async () => [])
  request(`sign.standard.${id}`)
  await eventually(() => responses.length === 1)
  t.same(responses, [{ subject: 'inbox', put: undefined }])
})

t.test('sign images: a failure is reported without a response', async (t) => {
  const { request, responses, failures } = signer(async () => {
    throw new Error('away')
  })
  request(`sign.standard.${id}`)
  await eventually(() => failures.length === 1)
  t.same([failures, responses], [[`${id}: Error: away`], []])
})

t.test('sign images: of more than 16 requests at a time the rest are dropped', async (t) => {
  const { promise, resolve } = Promise.withResolvers<object[]>()
  const { request, responses } = signer(() => promise)
  for (let times = 0; times < 20; times += 1) request(`sign.standard.${id}`)
  resolve(open)
  await eventually(() => responses.length >= 16)
  request(`sign.standard.${id}`)
  await eventually(() => responses.length >= 17)
  t.equal(responses.length, 17)
})

t.test('sign images: ends when it is disposed', async (t) => {
  const { signing, subscribed } = signer(async () => open)
  t.equal(subscribed.size, 3)
  signing[Symbol.dispose]()
  t.equal(subscribed.size, 0)
})
