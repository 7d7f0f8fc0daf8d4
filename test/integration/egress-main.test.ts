import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { startEgressProcess } from '#test/helpers/egress-process.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'

for (const stop of ['SIGTERM', 'a parent that goes away'] as const) {
  t.test(`egress main: serves until it is stopped by ${stop}, and prints only JSON lines`, async (t) => {
    await using page = await listening(createServer((_, response) => void response.end('page')))
    using service = startEgressProcess({ SHUTTERFLEET_ALLOW_TARGETS: `localhost:${page.port}` })
    const addresses = await service.announced
    const port = Number(new URL(addresses.egress ?? '').port)
    const page200 = await askProxy({ port, line: `GET http://localhost:${page.port}/` })
    t.match(page200, { status: 200, body: 'page' })
    t.match(await askProxy({ port, line: `GET http://127.0.0.1:${page.port}/` }), { status: 403, refusal: 'blocked' })
    t.equal((await fetch(`${addresses.probeUrl}/readyz`)).status, 200)
    const metrics = await (await fetch(`${addresses.probeUrl}/metrics`)).text()
    t.match(
      metrics,
      /shutterfleet_egress_requests_refused_total\{kind="request",route="direct",refusal="blocked",component="egress"\} 1/,
    )
    if (stop === 'SIGTERM') service.child.kill(stop)
    else service.child.disconnect()
    t.equal(await service.ended, 0)
    const [out, err] = await service.printed
    t.equal(out, '')
    const lines = err.trim().split('\n')
    t.ok(
      lines.every((line) => typeof (JSON.parse(line) as { level: unknown }).level === 'string'),
      err,
    )
  })
}

t.test('egress main: names every invalid setting and does not start', async (t) => {
  using service = startEgressProcess({
    SHUTTERFLEET_ALLOW_TARGETS: 'http://a',
    SHUTTERFLEET_EGRESS_DENY_CIDRS: '10.0.0.0/40',
  })
  t.equal(await service.ended, 78)
  const [, err] = await service.printed
  t.match(err, /SHUTTERFLEET_ALLOW_TARGETS = http:\/\/a, 'http:\/\/a' is not a host/)
  t.match(err, /SHUTTERFLEET_EGRESS_DENY_CIDRS = 10.0.0.0\/40, '10.0.0.0\/40' is not a CIDR/)
})

t.test('egress main: without tokens it listens on loopback only', async (t) => {
  using open = startEgressProcess({ SHUTTERFLEET_EGRESS_HOST: '0.0.0.0' })
  t.equal(await open.ended, 78)
  t.match((await open.printed)[1], /SHUTTERFLEET_EGRESS_TOKENS is empty and SHUTTERFLEET_EGRESS_HOST = 0\.0\.0\.0/)
  const path = join(t.testdir({ tokens: 'token-of-sixteen-a,token-of-sixteen-b\n' }), 'tokens')
  using closed = startEgressProcess({ SHUTTERFLEET_EGRESS_HOST: '0.0.0.0', SHUTTERFLEET_EGRESS_TOKENS_FILE: path })
  const { egress = '' } = await closed.announced
  const port = Number(new URL(egress).port)
  t.match(await askProxy({ port, line: 'CONNECT 10.0.0.1:443' }), { status: 407 })
  const headers = ['Proxy-Authorization: Bearer token-of-sixteen-b']
  t.match(await askProxy({ port, line: 'CONNECT 10.0.0.1:443', headers }), { status: 403, refusal: 'blocked' })
  closed.child.kill('SIGTERM')
  t.notMatch((await closed.printed).join(''), 'token-of-sixteen')
})
