import { connect, createServer, Socket } from 'node:net'
import t from 'tap'
import { type Connect, dial } from '#egress/connections/dial.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { freeze } from '#test/helpers/freeze.ts'

/** Maps every address to a loopback port, or to a closed port; the socket reports the dialled peer. */
const leadingTo = (ports: Readonly<Record<string, number>>, dialled: string[] = []): Connect => {
  return ({ host }) => {
    dialled.push(host)
    const socket = connect({ host: '127.0.0.1', port: ports[host] ?? 1 })
    return Object.defineProperty(socket, 'remoteAddress', { get: () => host })
  }
}

t.test('dial: uses the first address that accepts a connection', async (t) => {
  await using server = await listening(createServer())
  const dialled: string[] = []
  const connects = leadingTo({ '8.8.8.8': server.port }, dialled)
  const socket = await dial({ connect: connects, connectMs: 5000 }, ['1.1.1.1', '8.8.8.8', '9.9.9.9'], 443)
  socket.destroy()
  t.same(dialled, ['1.1.1.1', '8.8.8.8'])
})

t.test('dial: a connection that was made while this process was frozen is in time', async (t) => {
  await using server = await listening(createServer())
  const dialling = dial({ connect: leadingTo({ '1.1.1.1': server.port }), connectMs: 500 }, ['1.1.1.1'], 443)
  freeze(2200)
  const socket = await dialling
  t.equal(socket.destroyed, false)
  socket.destroy()
})

t.test('dial: tries at most four addresses', async (t) => {
  const dialled: string[] = []
  const addresses = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5']
  const dialling = dial({ connect: leadingTo({}, dialled), connectMs: 5000 }, addresses, 443)
  await t.rejects(dialling, { code: 'CONNECTION_FAILED' })
  t.equal(dialled.length, 4)
})

t.test('dial: tries addresses of both families, however many there are of one', async (t) => {
  const dialled: string[] = []
  const addresses = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5', '2606::1', '2606::2']
  await t.rejects(dial({ connect: leadingTo({}, dialled), connectMs: 5000 }, addresses, 443))
  t.same(dialled, ['1.1.1.1', '2606::1', '1.1.1.2', '2606::2'])
})

t.test('dial: gives up on an address without a response after its share of the timeout', async (t) => {
  // Keeps the process alive as a listening filter would: the timeout itself does not.
  await using _server = await listening(createServer())
  const sockets: Socket[] = []
  const hanging: Connect = () => {
    const socket = connect({ host: '127.0.0.1', port: 1, lookup: () => {} })
    // A socket that never connects: its events are suppressed.
    socket.emit = () => true
    sockets.push(socket)
    return socket
  }
  await t.rejects(dial({ connect: hanging, connectMs: 100 }, ['1.1.1.1', '2.2.2.2'], 443), { code: 'TIMEOUT' })
  t.ok(sockets.length === 2 && sockets.every((socket) => socket.destroyed))
})

t.test('dial: compares the peer as an address, not as text, and rejects another peer', async (t) => {
  await using server = await listening(createServer())
  const peer =
    (remoteAddress: string | undefined): Connect =>
    () =>
      Object.defineProperty(connect({ host: '127.0.0.1', port: server.port }), 'remoteAddress', {
        get: () => remoteAddress,
      })
  const dialFor = (remote: string | undefined, judged: string) =>
    dial({ connect: peer(remote), connectMs: 5000 }, [judged], 443)
  const same = await dialFor('2606:4700:0:0::1', '2606:4700::1')
  same.destroy()
  for (const foreign of ['2606:4700::2', '127.0.0.1', undefined]) {
    await t.rejects(dialFor(foreign, '2606:4700::1'), { code: 'BLOCKED' }, String(foreign))
  }
})

t.test('dial: a local failure such as EMFILE is SERVICE_UNAVAILABLE, and no further address is tried', async (t) => {
  const dialled: string[] = []
  const exhausted: Connect = ({ host }) => {
    dialled.push(host)
    const socket = new Socket()
    const error = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    process.nextTick(() => socket.destroy(error))
    return socket
  }
  const dialling = dial({ connect: exhausted, connectMs: 5000 }, ['1.1.1.1', '8.8.8.8'], 443)
  await t.rejects(dialling, { code: 'SERVICE_UNAVAILABLE' })
  t.same(dialled, ['1.1.1.1'])
})

t.test('dial: all addresses of a name share the connection timeout', async (t) => {
  // Keeps the process alive as a listening filter would.
  await using _server = await listening(createServer())
  const silent: Connect = () => {
    const socket = connect({ host: '127.0.0.1', port: 1, lookup: () => {} })
    socket.emit = () => true
    return socket
  }
  const addresses = ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5']
  for (const [count, shareMs] of [
    [1, 1000],
    [2, 500],
    [3, 333],
    [5, 250],
  ] as const) {
    const waits: number[] = []
    const deadline = (waitMs: number) => {
      waits.push(waitMs)
      return { signal: AbortSignal.abort(), [Symbol.dispose]: () => {} }
    }
    const dialling = dial({ connect: silent, connectMs: 1000, deadline }, addresses.slice(0, count), 443)
    await t.rejects(dialling, { code: 'TIMEOUT' })
    t.same(waits, Array(Math.min(count, 4)).fill(shareMs), `${count} addresses`)
  }
})
