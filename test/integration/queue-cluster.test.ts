import t from 'tap'
import { jetstreamManager } from '@nats-io/jetstream'
import { connectQueue } from '#shared/queue/connection.ts'
import { declareStreams, poolDepth } from '#shared/queue/streams.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'
import { startNats } from '#test/helpers/nats.ts'

t.test('queue: streams of a cluster outlive the loss of a server', async (t) => {
  const ports = await Promise.all([freePort(), freePort(), freePort()])
  const routes = ports.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')
  const servers = await Promise.all(
    ports.map((port) =>
      startNats(t, {
        config: `server_name: "s${port}"
cluster { name: shots, listen: "127.0.0.1:${port}", routes: [${routes}] }`,
      }),
    ),
  )
  const url = ['nats://127.0.0.1:1', ...servers.map((server) => server.url)].join(',')
  await using queue = await connectQueue({ url, name: 'test', inboxPrefix: '_INBOX', notice: () => {} })
  const declared = () => declareStreams(queue, { replicas: 3 }).then(() => true)
  await eventually(declared, { withinMs: 60_000, what: 'the cluster makes streams' })
  const { streams } = await jetstreamManager(queue.connection)
  for (const { name } of [capturesStream, resultsStream]) {
    t.equal((await streams.info(name)).config.num_replicas, 3, name)
  }
  await declareStreams(queue)
  t.equal((await streams.info(capturesStream.name)).config.num_replicas, 3, 'without a number they stay')

  await servers[0]?.stop()
  const isThere = async () => (await poolDepth(queue, 'standard')).waiting === 0
  await eventually(isThere, { withinMs: 60_000, what: 'the others answer' })
  t.pass('the streams are there')
})
