import t from 'tap'
import { openTraffic, createConnectionReviewer } from '#worker/browser-host/capture/load/traffic.ts'

t.test('traffic: returns the last refusal of a host', async (t) => {
  const traffic = openTraffic()
  traffic.recordRefusal('a.test', 'dns_failed')
  traffic.recordRefusal('a.test', 'blocked')
  t.equal(traffic.findRefusal('a.test'), 'blocked')
  t.equal(traffic.findRefusal('b.test'), undefined)
  t.equal(traffic.interruption(), undefined)
})

t.test('traffic: an egress failure interrupts the capture, and is no refusal of the target', async (t) => {
  const traffic = openTraffic()
  traffic.recordRefusal('a.test', 'unavailable')
  t.equal(traffic.findRefusal('a.test'), undefined)
  t.match(traffic.interruption(), { by: 'egress' })
  await t.rejects(traffic.failed, { code: 'SERVICE_UNAVAILABLE' })
})

t.test('traffic: an overloaded egress interrupts the capture as overload, unless egress also failed', async (t) => {
  const traffic = openTraffic()
  traffic.recordRefusal('a.test', 'overloaded')
  t.match(traffic.interruption(), { by: 'overload' })
  await t.rejects(traffic.failed, { code: 'SERVICE_UNAVAILABLE' })
  traffic.recordRefusal('a.test', 'unavailable')
  traffic.recordRefusal('a.test', 'overloaded')
  t.match(traffic.interruption(), { by: 'egress' })
})

t.test('traffic: names the exceeded maximum of bytes', async (t) => {
  const traffic = openTraffic()
  traffic.recordByteLimit(100)
  await t.rejects(traffic.failed, { code: 'RENDER_ERROR', publicMessage: /100 bytes/ })
})

const blocked = { host: 'ads.test', refusal: undefined }
const fine = { host: 'page.test', refusal: undefined }

t.test('reviewer: allows connections only during a capture', async (t) => {
  const reviewer = createConnectionReviewer()
  t.notOk(reviewer.review(fine))
  {
    using _traffic = reviewer.begin({})
    t.ok(reviewer.review(fine))
  }
  t.notOk(reviewer.review(fine))
})

t.test('reviewer: a host blocked by the capture is not allowed, and is no refusal of the target', async (t) => {
  const reviewer = createConnectionReviewer()
  using traffic = reviewer.begin({ blocks: (host) => host === 'ads.test' })
  t.notOk(reviewer.review(blocked))
  t.ok(reviewer.review(fine))
  t.equal(traffic.findRefusal('ads.test'), undefined)
  t.equal(traffic.interruption(), undefined)
  using _next = reviewer.begin({})
  t.ok(reviewer.review(blocked), 'another capture blocks nothing')
})

t.test('reviewer: records refusals and excess bytes for the active capture', async (t) => {
  const reviewer = createConnectionReviewer()
  const before = reviewer.begin({})
  before[Symbol.dispose]()
  using traffic = reviewer.begin({})
  reviewer.review({ host: 'page.test', refusal: 'dns_failed' })
  reviewer.recordByteLimit(1000)
  t.equal(traffic.findRefusal('page.test'), 'dns_failed')
  await t.rejects(traffic.failed, { code: 'RENDER_ERROR', publicMessage: /1000 bytes/ })
  t.equal(before.findRefusal('page.test'), undefined)
})

t.test('reviewer: the end of an earlier capture does not end the next', async (t) => {
  const reviewer = createConnectionReviewer()
  const earlier = reviewer.begin({})
  using _traffic = reviewer.begin({})
  earlier[Symbol.dispose]()
  t.ok(reviewer.review(fine))
})
