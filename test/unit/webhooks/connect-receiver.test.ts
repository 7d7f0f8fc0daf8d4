import { once } from 'node:events'
import { createServer, type AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import t from 'tap'
import { connectReceiver } from '#webhooks/connect-receiver.ts'
import type { EgressAddress } from '#shared/net/egress-trust.ts'

const connectThrough = (egress: EgressAddress, connectMs: number) =>
  connectReceiver({ egress, egressToken: '', trust: undefined, connectMs }, { host: 'hooks.example', port: 443 })

// The reason is its message too.
const failedFor = (message: string) => ({ name: 'NoConnection', message })

const silent = createServer().listen(0, '127.0.0.1')
await once(silent, 'listening')
t.teardown(() => silent.close())
const { port } = silent.address() as AddressInfo

t.test('connect receiver: a connection that egress does not accept in time is no attempt', async (t) => {
  const trust = { connect: () => new TLSSocket(new Socket()), [Symbol.dispose]: () => {} }
  await t.rejects(connectThrough({ host: '127.0.0.1', port, trust }, 1), failedFor('not_tried'))
})

t.test('connect receiver: a receiver to which egress gets no connection in time has timed out', async (t) => {
  await t.rejects(connectThrough({ host: '127.0.0.1', port }, 500), failedFor('timeout'))
})
