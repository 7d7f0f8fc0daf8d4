import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { EventFollower } from '#cli/listen/follow-events.ts'

type Stored = { id: string; status: string; created_at: string; batch_id?: string }
const second = (at: number) => new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString().replace('Z', '000Z')

/** A service with these captures, oldest first, that lists them as the real one does, `perPage` at a time. */
const startService = async (
  captures: Stored[],
  { perPage = 100, limit }: { perPage?: number; limit?: string } = {},
) => {
  const lines: string[] = []
  const server = createServer((request, response) => {
    lines.push(request.url ?? '')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    if (limit !== undefined) response.setHeader('x-ratelimit-limit', limit)
    if (pathname.includes('/batch/')) {
      const data = { id: pathname.split('/').at(-1), status: 'completed', total: 2, completed: 1, failed: 1 }
      return void response.end(JSON.stringify({ data: { ...data, created_at: 'then', pending: 0, screenshots: [] } }))
    }
    const from = Date.parse(searchParams.get('from') ?? second(0))
    const skip = Number(searchParams.get('cursor') ?? 0)
    const found = captures.filter(({ created_at: at }) => Date.parse(at) >= from).toReversed()
    const next = skip + perPage < found.length ? String(skip + perPage) : null
    response.end(JSON.stringify({ data: found.slice(skip, skip + perPage), meta: { next_cursor: next } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const at = { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key', stop: new AbortController().signal }
  return { follower: new EventFollower(at), lines }
}

const capture = (id: string, status: string, at: number): Stored => ({ id, status, created_at: second(at) })
const endings = async (follower: EventFollower) =>
  (await follower.poll()).map(({ event, data }) => `${event} ${String(data['id'])}`)

t.test(
  'follow events: reports each capture that ends once, oldest first, and none that had ended before',
  async (t) => {
    const captures = [capture('a', 'completed', 1), capture('b', 'pending', 2), capture('c', 'failed', 3)]
    const { follower } = await startService(captures)
    t.strictSame(await endings(follower), [])
    captures.push(capture('d', 'failed', 4))
    captures[1]!.status = 'completed'
    t.strictSame(await endings(follower), ['screenshot.completed b', 'screenshot.failed d'])
    captures.push(capture('e', 'completed', 60))
    t.strictSame(await endings(follower), ['screenshot.completed e'])
    t.strictSame(await endings(follower), [])
  },
)

t.test('follow events: follows a capture that waits while thousands end', async (t) => {
  const captures = [capture('slow', 'processing', 1)]
  const { follower } = await startService(captures)
  await follower.poll()
  for (let number = 0; number < 500; number += 1) captures.push(capture(`n${number}`, 'completed', 2 + number))
  t.equal((await endings(follower)).length, 500)
  captures[0]!.status = 'failed'
  t.strictSame(await endings(follower), ['screenshot.failed slow'])
})

t.test('follow events: takes no older capture for a new one', async (t) => {
  const captures = Array.from({ length: 150 }, (_, number) => capture(`n${number}`, 'completed', 1 + number / 20))
  const { follower } = await startService(captures)
  t.strictSame(await endings(follower), [], 'the first poll reads one page')
  t.strictSame([await endings(follower), await endings(follower)], [[], []])
  captures.push(capture('new', 'pending', 9), capture('next', 'completed', 10))
  t.strictSame(await endings(follower), ['screenshot.completed next'])
  captures.at(-2)!.status = 'completed'
  t.strictSame(await endings(follower), ['screenshot.completed new'])
})

t.test('follow events: reads at most 20 pages at a time', async (t) => {
  const captures = [capture('first', 'completed', 1)]
  const { follower, lines } = await startService(captures, { perPage: 1 })
  await follower.poll()
  for (let number = 0; number < 30; number += 1) captures.push(capture(`n${number}`, 'completed', 2 + number))
  t.equal((await endings(follower)).length, 20)
  t.equal(lines.length, 21)
  t.strictSame(await endings(follower), [])
})

t.test('follow events: reports a batch once, with the fields of its webhook', async (t) => {
  const member = (id: string) => ({ ...capture(id, 'pending', 1), batch_id: 'b' })
  const captures = [member('x'), member('y')]
  const { follower } = await startService(captures)
  await follower.poll()
  for (const each of captures) each.status = 'completed'
  const events = await follower.poll()
  t.strictSame(
    events.map(({ event }) => event),
    ['screenshot.completed', 'screenshot.completed', 'batch.completed'],
  )
  t.strictSame(events.at(-1)?.data, {
    ...{ id: 'b', status: 'completed', total: 2, completed: 1, failed: 1 },
    created_at: 'then',
  })
  captures.push(member('z'))
  captures.at(-1)!.status = 'failed'
  t.strictSame(await endings(follower), ['screenshot.failed z'])
})

t.test('follow events: knows how many requests the account may make', async (t) => {
  const limited = await startService([], { limit: '15' })
  t.equal(limited.follower.perMinute, undefined)
  await limited.follower.poll()
  t.equal(limited.follower.perMinute, 15)
  const free = await startService([])
  await free.follower.poll()
  t.equal(free.follower.perMinute, undefined)
})
