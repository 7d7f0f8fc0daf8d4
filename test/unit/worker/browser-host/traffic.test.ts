import t from 'tap'
import { openTraffic, createForwarder } from '#worker/browser-host/traffic.ts'

t.test('traffic: knows why a host was refused the last time', async (t) => {
  const traffic = openTraffic()
  traffic.refuse('a.test', 'dns_failed')
  traffic.refuse('a.test', 'blocked')
  t.equal(traffic.refusalOf('a.test'), 'blocked')
  t.equal(traffic.refusalOf('b.test'), undefined)
  t.equal(traffic.interruption(), undefined)
})

t.test('traffic: a fault of egress interrupts the capture and says nothing of the target', async (t) => {
  const traffic = openTraffic()
  traffic.refuse('a.test', 'unavailable')
  t.equal(traffic.refusalOf('a.test'), undefined)
  t.match(traffic.interruption(), { by: 'egress' })
  await t.rejects(traffic.cutShort, { code: 'SERVICE_UNAVAILABLE' })
})

t.test('traffic: an egress without room interrupts the capture as that, unless egress has a fault too', async (t) => {
  const traffic = openTraffic()
  traffic.refuse('a.test', 'overloaded')
  t.match(traffic.interruption(), { by: 'overload' })
  await t.rejects(traffic.cutShort, { code: 'SERVICE_UNAVAILABLE' })
  traffic.refuse('a.test', 'unavailable')
  traffic.refuse('a.test', 'overloaded')
  t.match(traffic.interruption(), { by: 'egress' })
})

t.test('traffic: names the bound of bytes that a page went beyond', async (t) => {
  const traffic = openTraffic()
  traffic.tooMuch(100)
  await t.rejects(traffic.cutShort, { code: 'RENDER_ERROR', publicMessage: /100 bytes/ })
})

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
