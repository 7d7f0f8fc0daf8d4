import t from 'tap'
import { createForwarder } from '#worker/browser-host/forwarder.ts'

const blocked = { host: 'ads.test', refusal: undefined }
const fine = { host: 'page.test', refusal: undefined }

t.test('forwarder: allows connections of a capture alone', async (t) => {
  const forwarder = createForwarder()
  t.notOk(forwarder.review(fine))
  {
    using _traffic = forwarder.begin({})
    t.ok(forwarder.review(fine))
  }
  t.notOk(forwarder.review(fine))
})

t.test('forwarder: a host that the capture blocks is not allowed, and is no refusal of the target', async (t) => {
  const forwarder = createForwarder()
  using traffic = forwarder.begin({ blocks: (host) => host === 'ads.test' })
  t.notOk(forwarder.review(blocked))
  t.ok(forwarder.review(fine))
  t.equal(traffic.refusalOf('ads.test'), undefined)
  t.equal(traffic.interruption(), undefined)
  using _next = forwarder.begin({})
  t.ok(forwarder.review(blocked), 'another capture blocks nothing')
})

t.test('forwarder: notes refusals and too many bytes with the capture that is active', async (t) => {
  const forwarder = createForwarder()
  const before = forwarder.begin({})
  before[Symbol.dispose]()
  using traffic = forwarder.begin({})
  forwarder.review({ host: 'page.test', refusal: 'dns_failed' })
  forwarder.tooMuch(1000)
  t.equal(traffic.refusalOf('page.test'), 'dns_failed')
  await t.rejects(traffic.cutShort, { code: 'RENDER_ERROR', publicMessage: /1000 bytes/ })
  t.equal(before.refusalOf('page.test'), undefined)
})

t.test('forwarder: the end of an earlier capture does not end the next', async (t) => {
  const forwarder = createForwarder()
  const earlier = forwarder.begin({})
  using _traffic = forwarder.begin({})
  earlier[Symbol.dispose]()
  t.ok(forwarder.review(fine))
})
