import t from 'tap'
import { completedCapture as storedCapture } from '#test/helpers/gateway-context.ts'
import { testRecords } from '#test/helpers/record-seal.ts'
import { renderBody } from '#webhooks/render-body.ts'

const completedCapture = testRecords.openCapture(storedCapture)
const sentAt = '2026-06-01T00:00:00.000000Z'
const delivery = { event: 'screenshot.completed', eventData: null, sentAt }

// Contract: Secrets in `options`
t.test('render body: masks secrets of the capture', async (t) => {
  const options = {
    ...completedCapture.options,
    webhook_url: 'https://hooks.example/?***',
    headers: { 'x-key': '***' },
  }
  const body = renderBody(delivery, { ...completedCapture, options }, 'https://shots.example')
  t.match(JSON.parse(body ?? ''), { sent_at: sentAt, data: { options: { headers: { 'x-key': '***' } } } })
  t.notMatch(body, /secret|token/)
})

t.test('render body: only a cache hit has cached', async (t) => {
  const renderData = (cached: boolean) =>
    (JSON.parse(renderBody(delivery, { ...completedCapture, cached }, '') ?? '') as { data: object }).data
  t.match(renderData(true), { cached: true })
  t.notOk('cached' in renderData(false))
})

// Contract: Metadata
t.test('render body: contains the page metadata if requested', async (t) => {
  const renderData = (more: object) =>
    (JSON.parse(renderBody(delivery, { ...completedCapture, ...more }, '') ?? '') as { data: object }).data
  t.match(renderData({ metadata: { title: 'T' } }), { metadata: { title: 'T' } })
  t.strictSame(renderData({ metadata: {} }), { ...renderData({}), metadata: {} })
  t.notOk('metadata' in renderData({}))
})

t.test(
  'render body: an event without a capture has its own data; an event of a deleted capture has no body',
  async (t) => {
    const test = renderBody({ event: 'webhook.test', eventData: { id: 'x' }, sentAt }, undefined, '')
    t.strictSame(JSON.parse(test ?? ''), { event: 'webhook.test', data: { id: 'x' }, sent_at: sentAt })
    t.equal(renderBody(delivery, undefined, ''), undefined)
  },
)
