import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Announcement } from '#shared/process/run-main.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { askProxy } from '#test/helpers/proxy-client.ts'

const main = new URL(import.meta.resolve('#egress/main.ts'))

/** Starts the service as its own process, told nothing but the given settings. */
const start = (settings: Readonly<Record<string, string>>) => {
  const child: ChildProcess = fork(main, {
    execArgv: [],
    env: { PATH: process.env.PATH, SHUTTERFLEET_EGRESS_PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const printed = Promise.all([text(child.stdout!), text(child.stderr!)])
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const announced = once(child, 'message').then(([message]) => message as Announcement)
  return { child, printed, ended, announced, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

for (const stop of ['SIGTERM', 'a parent that goes away'] as const) {
  t.test(`serves until it is stopped by ${stop}, and prints JSON lines alone`, async (t) => {
    await using page = await listening(createServer((_, response) => void response.end('page')))
    using service = start({ SHUTTERFLEET_ALLOW_TARGETS: `localhost:${page.port}` })
    const addresses = await Promise.race([service.announced, service.ended])
    if (typeof addresses !== 'object' || addresses === null) throw new Error((await service.printed).join(''))
    const port = Number(new URL(addresses.egress ?? '').port)
    const page200 = await askProxy({ port, line: `GET http://localhost:${page.port}/` })
    t.match(page200, { status: 200, body: 'page' })
    t.match(await askProxy({ port, line: `GET http://127.0.0.1:${page.port}/` }), { status: 403, refusal: 'blocked' })
    t.equal((await fetch(`${addresses.probeUrl}/readyz`)).status, 200)
    const metrics = await (await fetch(`${addresses.probeUrl}/metrics`)).text()
    t.match(metrics, /shutterfleet_egress_refused_total\{kind="request",refusal="blocked",service="egress"\} 1/)
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

t.test('names every invalid setting and does not start', async (t) => {
  using service = start({ SHUTTERFLEET_ALLOW_TARGETS: 'http://a', SHUTTERFLEET_EGRESS_DENY_CIDRS: '10.0.0.0/40' })
  t.equal(await service.ended, 78)
  const [, err] = await service.printed
  t.match(err, /SHUTTERFLEET_ALLOW_TARGETS = http:\/\/a, 'http:\/\/a' is not a host/)
  t.match(err, /SHUTTERFLEET_EGRESS_DENY_CIDRS = 10.0.0.0\/40, '10.0.0.0\/40' is not a CIDR/)
})
