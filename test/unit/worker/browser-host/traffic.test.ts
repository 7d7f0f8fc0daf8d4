import { PassThrough } from 'node:stream'
import t from 'tap'
import { openTraffic } from '#worker/browser-host/traffic.ts'

const bounds = { bytesMax: 100, connectionsMax: 2 }

t.test('cuts every connection once more bytes came than one capture may load', async (t) => {
  const traffic = openTraffic({ id: 'id', proxy: undefined }, bounds)
  const [one, two] = [new PassThrough(), new PassThrough()]
  traffic.admit(one)
  traffic.admit(two)
  traffic.count(100)
  t.notOk(one.destroyed)
  traffic.count(1)
  t.ok(one.destroyed && two.destroyed)
  await t.rejects(traffic.cutShort, { code: 'RENDER_ERROR', publicMessage: /100 bytes/ })
})

t.test('refuses connections beyond its share, and counts one only once', async (t) => {
  const traffic = openTraffic({ id: 'id', proxy: undefined }, bounds)
  const one = new PassThrough()
  t.ok(traffic.admit(one))
  t.ok(traffic.admit(one))
  t.ok(traffic.admit(new PassThrough()))
  const third = new PassThrough()
  t.notOk(traffic.admit(third))
  t.ok(third.destroyed)
})

t.test('remembers why a host was refused, and cuts what is open at its end', async (t) => {
  const traffic = openTraffic({ id: 'id', proxy: undefined }, bounds)
  const open = new PassThrough()
  traffic.admit(open)
  traffic.refuse('a.test', 'blocked')
  t.equal(traffic.refusalOf('a.test'), 'blocked')
  t.equal(traffic.refusalOf('b.test'), undefined)
  traffic[Symbol.dispose]()
  t.ok(open.destroyed)
})
