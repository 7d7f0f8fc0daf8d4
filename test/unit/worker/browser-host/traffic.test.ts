import t from 'tap'
import { openTraffic } from '#worker/browser-host/traffic.ts'

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
