import { PassThrough } from 'node:stream'
import t from 'tap'
import { openCaptureTraffic, type TrafficOwner } from '#worker/network/capture-traffic.ts'

const bounds = { bytesMax: 100, connectionsMax: 2 }

const open = (isAllowed: (host: string) => boolean = () => true) => {
  const calls: unknown[] = []
  const recorded = Promise.withResolvers<void>()
  const owner: TrafficOwner = {
    review: async (...of) => {
      calls.push(of)
      return isAllowed(of[0])
    },
    recordByteLimit: () => {
      calls.push('byte limit exceeded')
      return recorded.promise
    },
  }
  return {
    calls,
    recorded,
    traffic: openCaptureTraffic({ id: 'id', proxy: undefined, targets: undefined }, bounds, owner),
  }
}

t.test(
  'traffic: closes every connection above the maximum of bytes of a capture, once its host has recorded it',
  async (t) => {
    const { calls, recorded, traffic } = open()
    const [one, two] = [new PassThrough(), new PassThrough()]
    traffic.admit(one)
    traffic.admit(two)
    traffic.count(100)
    t.notOk(one.destroyed)
    traffic.count(1)
    traffic.count(1)
    t.notOk(one.destroyed || two.destroyed)
    recorded.resolve()
    await recorded.promise
    t.ok(one.destroyed && two.destroyed)
    t.same(calls, ['byte limit exceeded'])
  },
)

t.test('traffic: a host that does not record the maximum of bytes gains at most 16 MiB', async (t) => {
  const { traffic } = open()
  const one = new PassThrough()
  traffic.admit(one)
  traffic.count(100 + 16 * 2 ** 20)
  t.notOk(one.destroyed)
  traffic.count(1)
  t.ok(one.destroyed)
})

t.test('traffic: rejects connections above its total, whether or not the first are still open', async (t) => {
  const { traffic } = open()
  const one = new PassThrough()
  t.ok(traffic.admit(one))
  one.destroy()
  t.ok(traffic.admit(new PassThrough()))
  t.notOk(traffic.admit(new PassThrough()))
})

t.test('traffic: queries the host until it has allowed a name once', async (t) => {
  let isAllowed = false
  const { calls, traffic } = open(() => isAllowed)
  t.notOk(await traffic.allows('a.test'))
  isAllowed = true
  t.ok(await traffic.allows('a.test'))
  t.ok(await traffic.allows('a.test'))
  t.same(calls, [['a.test'], ['a.test']])
})

t.test('traffic: closes open connections at its end', async (t) => {
  const { traffic } = open()
  const connection = new PassThrough()
  traffic.admit(connection)
  traffic[Symbol.dispose]()
  t.ok(connection.destroyed)
})
