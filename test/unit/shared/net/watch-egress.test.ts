import { createServer, type Socket } from 'node:net'
import t from 'tap'
import { watchAuthority, watchEgress } from '#shared/net/watch-egress.ts'
import { listening, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'

const at = ({ port }: { port: number }) => ({ host: '127.0.0.1', port })

/** A filter that gives a watch and then does what it is told; `serve` gets what comes after the head. */
const startPeer = (serve: (socket: Socket) => void) =>
  listening(
    createServer((socket) => {
      socket.once('data', (head: Buffer) => {
        if (!head.toString().startsWith(`CONNECT ${watchAuthority} `)) return void socket.destroy()
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        serve(socket)
      })
    }),
  )

t.test('watch: answers pings, several at a time, while the filter stands', async (t) => {
  await using filter = await startFilter({})
  using watch = await watchEgress(at(filter))
  t.same(await Promise.all([watch.ping(), watch.ping(), watch.ping()]), [true, true, true])
  t.notOk(watch.ended.aborted)
})

t.test('watch: ends with the filter, and when the filter begins to drain', async (t) => {
  for (const end of ['kill', 'drain'] as const) {
    await using filter = await startFilter({})
    using watch = await watchEgress(at(filter))
    const ended = end === 'kill' ? filter[Symbol.asyncDispose]() : filter.drain(60_000)
    await eventually(() => watch.ended.aborted, { what: end })
    t.equal(await watch.ping(), false)
    await ended
  }
})

t.test('watch: ends where the filter stands still, which its own pings find', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  using watch = await watchEgress(at(peer), { pingEveryMs: 10, answerMs: 200 })
  await eventually(() => watch.ended.aborted)
  t.equal(await watch.ping(), false)
})

t.test('watch: shows the token that the filter requires', async (t) => {
  await using filter = await startFilter({ tokens: ['token-of-sixteen'] })
  using watch = await watchEgress(at(filter), { token: 'token-of-sixteen' })
  t.ok(await watch.ping())
  await t.rejects(watchEgress(at(filter)), { code: 'SERVICE_UNAVAILABLE', message: /407/ })
})

t.test('watch: is not given by something else', async (t) => {
  const no = { code: 'SERVICE_UNAVAILABLE', message: /egress cannot be watched/ }
  await using silent = await listening(createServer((socket) => void socket.resume()))
  await t.rejects(watchEgress(at(silent), { answerMs: 100 }), no)
  await using refusing = await listening(createServer((socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')))
  await t.rejects(watchEgress(at(refusing)), no)
  await t.rejects(watchEgress({ socketPath: '/nonexistent/socket' }), no)
})
