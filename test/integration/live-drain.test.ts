import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { createTenant } from '#test/helpers/tenant.ts'
import { acceptCapture } from '#gateway/db/accept-capture.ts'
import { createKey } from '#shared/db/keys.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { readEvents } from '#test/helpers/read-events.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const gateway = await startGateway(t, { STREAM_SECONDS: '3', GATEWAY_DRAIN_MS: '600000' })
const { database, baseUrl } = gateway
const tenant = await createTenant(database)
const { key } = await createKey(database, { accountId: tenant.accountId, name: '', domains: [], pepper: testPepper })
const capture = tenant.capture()
await acceptCapture(database, capture, { windowSize: 16 })
const follow = async () =>
  readEvents(
    await fetch(`${baseUrl}/v1/screenshots/${capture.id}/events`, { headers: { authorization: `Bearer ${key}` } }),
  )

const status = (query: string) =>
  fetch(`${baseUrl}/v1/screenshots/${capture.id}${query}`, { headers: { authorization: `Bearer ${key}` } })

t.test('live drain: a stream at its time limit ends with a comment, and the client may reconnect', async (t) => {
  const stream = await follow()
  await stream.ended
  t.match(stream.text(), /^retry: \d+\n\n/)
  t.match(stream.text(), /: this stream has lasted as long as one may; connect again\n\n$/)
  t.match(stream.events, [{ name: 'status', id: 'pending-0', data: { status: 'pending', position: 0 } }])
})

t.test('live drain: a stopping gateway closes idle connections, and ends waits and streams at once', async (t) => {
  const stream = await follow()
  await eventually(() => stream.events.length === 1)
  const { hostname, port } = new URL(baseUrl)
  const silent = connect(Number(port), hostname)
  await once(silent, 'connect')
  const waited = status('?wait=60')
  // A separate request after the wait has begun, on a kept-alive connection.
  await (await status('')).text()
  gateway.stop()
  t.match(await (await waited).json(), { data: { id: capture.id, status: 'pending' } })
  await stream.ended
  t.match(stream.text(), /: this server is stopping; connect again\n\n$/)
  t.equal(await gateway.ended, 0)
})
