import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { postAsOperator } from '#cli/http/as-operator.ts'
import { eventually } from '#test/helpers/eventually.ts'

/** A gateway that signs in whoever asks, never answers the call, and ends sessions with a status. */
const startGateway = async (t: Test, endStatus: number) => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`)
    if (request.method === 'DELETE') response.writeHead(endStatus).end()
    else if (request.url === '/console/api/session')
      response.writeHead(200, { 'set-cookie': 'session=secret; HttpOnly' }).end('{"csrf_token":"c"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => (server.closeAllConnections(), server.close()))
  return { requests, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const interrupt = async (t: Test, endStatus: number) => {
  const { requests, baseUrl } = await startGateway(t, endStatus)
  const stop = new AbortController()
  const notes: string[] = []
  const at = { baseUrl, signInToken: 'link', stop: stop.signal, note: (line: string) => void notes.push(line) }
  const called = postAsOperator(at, '/x', {})
  called.catch(() => {})
  await eventually(() => requests.length === 2)
  stop.abort()
  await t.rejects(called, { message: /is unreachable \(AbortError/ })
  return { requests, notes }
}

t.test("as operator: the session ends also if the call is interrupted, as by a person's Ctrl-C", async (t) => {
  const { requests, notes } = await interrupt(t, 204)
  t.strictSame(requests.slice(1), [
    'POST /console/api/operator/x session=secret',
    'DELETE /console/api/session session=secret',
  ])
  t.strictSame(notes, [])
})

t.test('as operator: a session that the service does not end is named', async (t) => {
  const { notes } = await interrupt(t, 503)
  t.match(notes, [/session was not ended.*503/])
})
