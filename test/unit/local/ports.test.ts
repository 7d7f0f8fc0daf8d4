import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { choosePorts } from '#local/ports.ts'

const occupy = async (port: number) => {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void (await once(server.close(), 'close')),
  }
}

t.test('ports: are kept between runs, and unique', async (t) => {
  const path = join(t.testdir(), 'ports.json')
  const first = await choosePorts(path, 0)
  t.strictSame(await choosePorts(path, 0), first)
  t.equal(new Set(Object.values(first)).size, 7)
  t.ok(
    Object.values(first).every((port) => port < 32_768),
    'below the ephemeral ports of the kernel',
  )
})

t.test('ports: replaces a stored port that is in use', async (t) => {
  const path = join(t.testdir(), 'ports.json')
  const first = await choosePorts(path, 0)
  await using _other = await occupy(first.objects)
  const second = await choosePorts(path, 0)
  t.not(second.objects, first.objects)
  t.equal(second.nats, first.nats)
})

t.test('ports: rejects a requested port that is in use, and names the flag', async (t) => {
  await using other = await occupy(0)
  await t.rejects(choosePorts(join(t.testdir(), 'ports.json'), other.port), {
    code: 'CONFIGURATION',
    message: new RegExp(`port ${other.port} is taken.*--port`),
  })
})
