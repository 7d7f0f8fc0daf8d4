import t from 'tap'
import type { AccountEvent, Batch, EndedScreenshot, ListFilter, Screenshot } from '#client/shutterfleet.js'
import { EventFollower } from '#cli/listen/follow-events.ts'

const second = (at: number) => new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString().replace('Z', '000Z')
const capture = (id: string, status: Screenshot['status'], at: number): Screenshot => ({
  ...{ id, status, url: null, options: { width: 1280, height: 800, format: 'png' as const }, created_at: second(at) },
})

/** A service with these captures, oldest first, and a follower that reads when the service reports a change. */
const startService = (captures: Screenshot[]) => {
  const read: string[] = []
  let reported: AccountEvent[] = []
  const client = {
    async *accountEvents() {
      for (const event of reported) yield event
    },
    async *list({ from }: ListFilter = {}) {
      const found = captures.filter(({ created_at: at }) => Date.parse(at) >= Date.parse(from ?? second(0)))
      for (const each of found.toReversed()) {
        read.push(each.id)
        yield each
      }
    },
    batchStatus: async (id: string): Promise<Batch> => ({
      ...{ id, status: 'completed', total: 2, completed: 1, failed: 1, created_at: 'then' },
      ...{ pending: 0, processing: 0, screenshots: [] },
    }),
  }
  const follower = new EventFollower(client, new AbortController().signal)
  const events = async (...next: AccountEvent[]) => {
    reported = next
    return (await Array.fromAsync(follower.read())).flat()
  }
  const endings = async (...next: AccountEvent[]) =>
    (await events(...next)).map(({ event, data }) => `${event} ${String(data['id'])}`)
  return { read, events, endings }
}

const ready: AccountEvent = { event: 'ready', data: {} }
const changed: AccountEvent = { event: 'changed', data: { ids: [], more: true } }
const ended = (record: Screenshot): AccountEvent => ({ event: 'ended', data: record as EndedScreenshot })

t.test('follow events: reports each capture that ends once, and none that had ended before', async (t) => {
  const captures = [capture('a', 'completed', 1), capture('b', 'pending', 2), capture('c', 'failed', 3)]
  const { endings } = startService(captures)
  t.strictSame(await endings(ready), [])
  captures.push(capture('d', 'failed', 4))
  captures[1]!.status = 'completed'
  t.strictSame(await endings(ended(captures[1]!)), ['screenshot.completed b'])
  t.strictSame(await endings(changed, changed), ['screenshot.failed d'])
  t.strictSame(await endings({ event: 'started', data: captures[1]! }), [])
})

t.test('follow events: reports what ended while the stream was interrupted, oldest capture first', async (t) => {
  const captures = [capture('slow', 'processing', 1)]
  const { endings } = startService(captures)
  await endings(ready)
  for (let number = 0; number < 500; number += 1) captures.push(capture(`n${number}`, 'completed', 2 + number))
  const first = await endings(ready)
  t.strictSame([first.length, first[0]], [500, 'screenshot.completed n0'])
  captures[0]!.status = 'failed'
  t.strictSame(await endings(ready), ['screenshot.failed slow'])
})

t.test('follow events: takes no older capture for a new one', async (t) => {
  const captures = Array.from({ length: 150 }, (_, number) => capture(`n${number}`, 'completed', 1 + number / 20))
  const { endings } = startService(captures)
  t.strictSame(await endings(ready), [], 'the first read is one page')
  t.strictSame(await endings(changed, changed), [])
  captures.push(capture('new', 'pending', 9), capture('next', 'completed', 10))
  t.strictSame(await endings(changed), ['screenshot.completed next'])
  captures.at(-2)!.status = 'completed'
  t.strictSame(await endings(changed), ['screenshot.completed new'])
})

t.test('follow events: reads at most 2,000 captures at a time', async (t) => {
  const captures = [capture('first', 'completed', 1)]
  const { endings, read } = startService(captures)
  await endings(ready)
  for (let number = 0; number < 2500; number += 1) captures.push(capture(`n${number}`, 'completed', 2 + number))
  t.equal((await endings(changed)).length, 2000)
  t.equal(read.length, 2001)
  t.strictSame(await endings(changed), [])
})

t.test('follow events: reports a batch once, with the fields of its webhook', async (t) => {
  const member = (id: string) => ({ ...capture(id, 'pending', 1), batch_id: 'b' })
  const captures = [member('x'), member('y')]
  const { events, endings } = startService(captures)
  await events(ready)
  for (const each of captures) each.status = 'completed'
  const found = await events(changed)
  t.strictSame(
    found.map(({ event }) => event),
    ['screenshot.completed', 'screenshot.completed', 'batch.completed'],
  )
  t.strictSame(found.at(-1)?.data, {
    ...{ id: 'b', status: 'completed', total: 2, completed: 1, failed: 1 },
    created_at: 'then',
  })
  t.strictSame(await endings(ended({ ...member('z'), status: 'failed' })), ['screenshot.failed z'])
})
