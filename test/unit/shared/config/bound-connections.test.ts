import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { boundConnections } from '#shared/config/bound-connections.ts'
import { parseCidr } from '#shared/policy/cidr.ts'
import { eventually } from '#test/helpers/eventually.ts'

const max = 40

/** A server, the bounds at which it refused connections, and idle clients of it at addresses of this machine. */
const start = async (t: Test, trusted: readonly string[] = []) => {
  const refused: string[] = []
  const server = createServer()
  const trustedProxies = trusted.map((block) => parseCidr(block)!)
  boundConnections(server, { max, trustedProxies, refused: (bound) => refused.push(bound) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = (localAddress: string, count: number) => {
    for (let opened = 0; opened < count; opened += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
      sockets.push(socket)
    }
  }
  return { server, sockets, refused, open }
}

const countOf = (server: Server) =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

t.test('bound connections: one client holds a quarter; what exceeds it is closed at once', async (t) => {
  const { server, sockets, refused, open } = await start(t)
  open('127.0.0.1', 30)
  await eventually(() => refused.length === 20)
  t.same([...new Set(refused)], ['client'])
  await eventually(async () => (await countOf(server)) === 10)
  await eventually(() => sockets.filter((each) => each.closed).length === 20, { what: 'clients see it' })
  open('127.0.0.2', 10)
  await eventually(async () => (await countOf(server)) === 20)
  t.equal(refused.length, 20, 'others are not affected')
})

t.test('bound connections: a place is free again once its connection is closed', async (t) => {
  const { server, sockets, refused, open } = await start(t)
  open('127.0.0.1', 10)
  await eventually(async () => (await countOf(server)) === 10)
  for (const socket of sockets) socket.destroy()
  await eventually(async () => (await countOf(server)) === 0)
  open('127.0.0.1', 10)
  await eventually(async () => (await countOf(server)) === 10)
  t.same(refused, [])
})

t.test('bound connections: a trusted proxy is bounded by what there is in all', async (t) => {
  const { server, refused, open } = await start(t, ['127.0.0.1'])
  open('127.0.0.1', 50)
  await eventually(() => refused.length === 10)
  t.same([...new Set(refused)], ['all'])
  t.equal(await countOf(server), max)
})
