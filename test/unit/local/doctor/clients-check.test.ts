import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { runCheck } from '#local/doctor/check.ts'
import { clientsCheck } from '#local/doctor/clients-check.ts'

const serve = async (t: Test, body: string) => {
  const server = createServer((_request, response) => void response.end(body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`
}

t.test('clients check: a proxy that the gateway ignored is a warning with the setting that trusts it', async (t) => {
  const advice = 'X-Forwarded-For from 10.0.0.1 ignored: set SHUTTERFLEET_TRUSTED_PROXIES'
  const found = await runCheck(clientsCheck(await serve(t, JSON.stringify({ detail: { clients: advice } }))))
  t.match(found, { ok: true, detail: `warning: ${advice}` })
})

t.test('clients check: passes if no proxy was ignored, and fails without a valid response', async (t) => {
  const url = await serve(t, JSON.stringify({ detail: { database: 'answers' } }))
  t.match(await runCheck(clientsCheck(url)), { ok: true, detail: 'no proxy was ignored' })
  t.match(await runCheck(clientsCheck(await serve(t, 'no JSON'))), { ok: false, advice: /gateway\.log/ })
})
