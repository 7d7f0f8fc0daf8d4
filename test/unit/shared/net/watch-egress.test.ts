import { createServer, type Socket } from 'node:net'
import t from 'tap'
import { watchAuthority, watchEgress } from '#shared/net/watch-egress.ts'
import { listening, startFilter } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'

const at = ({ port }: { port: number }) => ({ host: '127.0.0.1', port })

/** An egress that opens a watch; `serve` gets the socket after the head. */
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

t.test('watch: responds to concurrent pings while egress is up', async (t) => {
  await using filter = await startFilter({})
  using watch = await watchEgress(at(filter))
  t.same(await Promise.all([watch.ping(), watch.ping(), watch.ping()]), [true, true, true])
  t.notOk(watch.ended.aborted)
})

t.test('watch: ends when egress stops, and when it begins to drain', async (t) => {
  for (const end of ['kill', 'drain'] as const) {
    await using filter = await startFilter({})
    using watch = await watchEgress(at(filter))
    const ended = end === 'kill' ? filter[Symbol.asyncDispose]() : filter.drain(60_000)
    await eventually(() => watch.ended.aborted, { what: end })
    t.equal(await watch.ping(), false)
    await ended
  }
})

t.test('watch: ends if egress hangs, detected by its own pings', async (t) => {
  await using peer = await startPeer((socket) => socket.resume())
  using watch = await watchEgress(at(peer), { pingEveryMs: 10, answerMs: 200 })
  await eventually(() => watch.ended.aborted)
  t.equal(await watch.ping(), false)
})

t.test('watch: sends the token that egress requires', async (t) => {
  await using filter = await startFilter({ tokens: ['token-of-sixteen'] })
  using watch = await watchEgress(at(filter), { token: 'token-of-sixteen' })
  t.ok(await watch.ping())
  await t.rejects(watchEgress(at(filter)), { code: 'SERVICE_UNAVAILABLE', message: /407/ })
})

t.test('watch: fails on anything but egress', async (t) => {
  const no = { code: 'SERVICE_UNAVAILABLE', message: /egress cannot be watched/ }
  await using silent = await listening(createServer((socket) => void socket.resume()))
  await t.rejects(watchEgress(at(silent), { answerMs: 100 }), no)
  await using refusing = await listening(createServer((socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')))
  await t.rejects(watchEgress(at(refusing)), no)
  await t.rejects(watchEgress({ socketPath: '/nonexistent/socket' }), no)
})
