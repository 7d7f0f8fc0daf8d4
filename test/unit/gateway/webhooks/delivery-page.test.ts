import t from 'tap'
import { writeCursor } from '#gateway/list/cursor.ts'
import { readDeliveryPage, showDeliveries } from '#gateway/webhooks/delivery-page.ts'

const delivery = (second: string) => ({
  id: `00000000-0000-4000-8000-0000000000${second}`,
  event: 'webhook.test',
  screenshot_id: null,
  webhook_id: null,
  url: 'https://example.com/',
  status: 'pending' as const,
  created_at: `2026-02-28T12:00:${second}.000001Z`,
  sent_at: null,
  next_attempt_at: null,
  attempts: [],
})

t.test('a page goes on after the last delivery of the page before it', async (t) => {
  const { data, meta } = showDeliveries([delivery('03'), delivery('02'), delivery('01')], 2) as {
    data: readonly object[]
    meta: { next_cursor: string }
  }
  t.equal(data.length, 2)
  const { created_at: createdAt, id } = delivery('02')
  t.same(readDeliveryPage(`cursor=${meta.next_cursor}`), { limit: 20, before: { createdAt, id } })
  t.match(showDeliveries([delivery('01')], 1), { meta: { per_page: 1, next_cursor: null } })
})

t.test('a cursor that no answer has given is refused, one with a day that no calendar has included', async (t) => {
  const { id, created_at: createdAt } = delivery('01')
  const texts = ['x', `2026-02-30T00:00:00.000000Z ${id}`, `0000-01-01T00:00:00.000000Z ${id}`]
  const forged = [
    ...texts.map((text) => Buffer.from(text).toString('base64url')),
    writeCursor({ direction: 'older', than: { createdAt: '2026-02-30T00:00:00.000000Z', id } }),
    writeCursor({ direction: 'newer', than: { createdAt, id } }),
  ]
  for (const cursor of forged) {
    t.throws(
      () => readDeliveryPage(`cursor=${cursor}`),
      { code: 'VALIDATION_ERROR', details: { cursor: [String] } },
      cursor,
    )
  }
})
