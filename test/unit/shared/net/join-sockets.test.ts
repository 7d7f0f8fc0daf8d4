import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { joinSockets } from '#shared/net/join-sockets.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'

/** Two connections whose near ends are joined: what is written to `left` is read from `right`, and the reverse. */
const startJoined = async () => {
  const server = createServer({ allowHalfOpen: true })
  const running = await listening(server)
  const open = async () => {
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const far = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
    far.on('error', () => {})
    return { far, near: (await accepted)[0] }
  }
  const [left, right] = [await open(), await open()]
  const joined = joinSockets(left.near, right.near)
  const nears = { left: left.near, right: right.near }
  return {
    left: left.far,
    right: right.far,
    nears,
    joined,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}

const large = 8_388_608

t.test('joined sockets: forward bytes and ends, and close when both have ended', async (t) => {
  await using pair = await startJoined()
  pair.left.end('question')
  t.equal(await text(pair.right), 'question')
  pair.right.end('answer')
  t.equal(await text(pair.left), 'answer')
  t.equal(await pair.joined, true)
})

t.test('joined sockets: pending writes are flushed before the second socket closes', async (t) => {
  await using pair = await startJoined()
  const { left, right } = pair.nears
  const isClosed = once(right, 'close')
  const write = left._write.bind(left)
  left._write = (...of) => void isClosed.then(() => write(...of))
  pair.left.end()
  pair.right.resume().end('answer')
  t.equal(await text(pair.left), 'answer')
  t.equal(await pair.joined, true)
})

t.test('joined sockets: an error of one closes the other, and the result is false', async (t) => {
  for (const side of ['left', 'right'] as const) {
    await using pair = await startJoined()
    const other = side === 'left' ? pair.right : pair.left
    pair.left.write('half')
    await once(pair.right, 'data')
    pair[side].resetAndDestroy()
    await once(other.resume(), 'end')
    other.destroy()
    t.equal(await pair.joined, false)
  }
})

t.test('joined sockets: apply the back-pressure of a slow reader to the writer', async (t) => {
  await using pair = await startJoined()
  pair.right.pause()
  let written = 0
  const chunk = Buffer.alloc(65_536)
  const push = () => {
    while (written < 16 * large) {
      written += chunk.length
      if (!pair.left.write(chunk)) return
    }
  }
  pair.left.on('drain', push)
  push()
  let before = -1
  await eventually(() => {
    const still = written === before
    before = written
    return still
  })
  t.ok(written < 8 * large, `${written} bytes were accepted without a reader`)
  pair.left.destroy()
  pair.right.destroy()
})
