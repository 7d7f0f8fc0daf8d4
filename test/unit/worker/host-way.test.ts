import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import type { Host } from '#worker/host-process.ts'
import { onWay, openHostWay } from '#worker/host-way.ts'

t.test('host way: the bound of the relay lies above all that a host lets pass by its own count', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'way-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  let received = 0
  const server = createServer((socket) => socket.on('data', (chunk) => void (received += chunk.length)))
  await using egress = await listening(server)
  const path = join(folder, 'host.sock')
  const bounds = { egress: { host: '127.0.0.1', port: egress.port }, egressToken: '' }
  const way = await openHostWay(
    { ...bounds, captureBytesMax: 100_000, captureConnectionsMax: 2 },
    { path, user: undefined },
  )
  const bytesMax = 100_000 + 2 * 2 * 65_536
  const client = connect({ path })
  client.on('error', () => {})
  await new Promise((written) => void client.write(Buffer.alloc(bytesMax), written))
  await eventually(() => received === bytesMax)
  t.notOk(client.destroyed)
  client.write('one more')
  await once(client.resume(), 'close')
  await way[Symbol.asyncDispose]()
  t.notOk(existsSync(path), 'the socket goes with the way')
})

t.test('host way: every capture has the whole bound, and the way ends after its host', async (t) => {
  const seen: string[] = []
  const host: Host = {
    gone: new AbortController().signal,
    capture: async ({ id }) => {
      seen.push(id)
      return { outcome: 'failed', code: 'TIMEOUT', message: '', detail: '', timings: {} }
    },
    [Symbol.asyncDispose]: async () => void seen.push('host ends'),
  }
  const way = {
    path: '',
    restartCount: () => void seen.push('count restarts'),
    [Symbol.asyncDispose]: async () => void seen.push('way ends'),
  }
  const both = onWay(host, way)
  const order = { options: {} as never, online: true }
  await both.capture({ ...order, id: 'one' }, 0)
  await both.capture({ ...order, id: 'two' }, 0)
  await both[Symbol.asyncDispose]()
  t.same(seen, ['count restarts', 'one', 'count restarts', 'two', 'host ends', 'way ends'])
  t.equal(both.gone, host.gone)
})
