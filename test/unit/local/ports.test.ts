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
  const first = await choosePorts(path, { gatewayPort: 0 })
  t.strictSame(await choosePorts(path, { gatewayPort: 0 }), first)
  t.equal(new Set(Object.values(first)).size, 7)
  t.ok(
    Object.values(first).every((port) => port < 32_768),
    'below the ephemeral ports of the kernel',
  )
})

t.test('ports: replaces a stored port that is in use', async (t) => {
  const path = join(t.testdir(), 'ports.json')
  const first = await choosePorts(path, { gatewayPort: 0 })
  await using _other = await occupy(first.objects)
  const second = await choosePorts(path, { gatewayPort: 0 })
  t.not(second.objects, first.objects)
  t.equal(second.nats, first.nats)
})

t.test('ports: rejects a requested port that is in use, and names the flag', async (t) => {
  await using other = await occupy(0)
  await t.rejects(choosePorts(join(t.testdir(), 'ports.json'), { gatewayPort: other.port }), {
    code: 'CONFIGURATION',
    message: new RegExp(`port ${other.port} is taken.*--port`),
  })
})

t.test('ports: rejects a port of the administration that is in use, and names its setting', async (t) => {
  const path = join(t.testdir(), 'ports.json')
  await using other = await occupy(0)
  const admin = (port: number) => ({ port, host: '127.0.0.1' })
  await t.rejects(choosePorts(path, { gatewayPort: 0, admin: admin(other.port) }), {
    code: 'CONFIGURATION',
    message: new RegExp(`port ${other.port} is taken; .*SHUTTERFLEET_ADMIN_PORT`),
  })
  const { gateway, objects } = await choosePorts(path, { gatewayPort: 0, admin: admin(0) })
  await t.rejects(choosePorts(path, { gatewayPort: gateway, admin: admin(gateway) }), {
    message: new RegExp(`port ${gateway} is that of .*--port or SHUTTERFLEET_ADMIN_PORT`),
  })
  const next = await choosePorts(path, { gatewayPort: 0, admin: admin(objects) })
  t.notOk(Object.values(next).includes(objects), 'nothing else gets the port of the administration')
})

t.test('ports: a port is checked at the address on which its service listens', async (t) => {
  const path = join(t.testdir(), 'ports.json')
  await using other = await occupy(0)
  const gatewayPort = other.port
  t.equal((await choosePorts(path, { gatewayPort, gatewayHost: '127.0.0.2' })).gateway, gatewayPort)
  await t.rejects(choosePorts(path, { gatewayPort, gatewayHost: '203.0.113.1' }), {
    message: /cannot be used \(EADDRNOTAVAIL\)/,
  })
})
