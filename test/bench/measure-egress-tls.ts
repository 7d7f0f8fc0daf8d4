// Compares the same traffic from a client to an egress process with and without TLS, in turns, by hand:
// `node test/bench/measure-egress-tls.ts [tunnels]`. Prints medians of a tunnel and of the processor time of both ends.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSelfSigned } from '#cli/cluster/self-signed.ts'
import { type EgressAddress, openEgressTrust } from '#shared/net/egress-trust.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startEgressProcess } from '#test/helpers/egress-process.ts'
import { cpuSeconds } from '#test/bench/cpu-seconds.ts'
import { quantile } from '#test/bench/quantile.ts'
import { requestTunnel } from '#worker/network/request-tunnel.ts'

const tunnels = Number(process.argv[2] ?? 2000)
const streamBytes = 200 * 2 ** 20
const rounds = 5
const capture = { id: 'capture', proxy: undefined, targets: undefined }
const fail = (cause: unknown) => {
  throw new Error(String(cause))
}

const folder = await mkdtemp(join(tmpdir(), 'measure-egress-tls-'))
const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
const made = makeSelfSigned(['localhost'], Date.now() - 1000, Date.now() + 86_400_000)
await writeFile(cert, made.certificate)
await writeFile(key, made.key)
const chunk = Buffer.alloc(65_536, 'x')
// Answers a byte with a byte, and an `s` with a stream.
await using target = await listening(
  createServer((socket) =>
    socket.on('data', (data: Buffer) => {
      if (data[0] !== 0x73) return void socket.write('y')
      const send = (sent: number): void => {
        if (sent >= streamBytes) return void socket.end()
        socket.write(chunk, () => send(sent + chunk.length))
      }
      return send(0)
    }),
  ),
)
const allow = { SHUTTERFLEET_ALLOW_TARGETS: '127.0.0.1', SHUTTERFLEET_EGRESS_CONNECTION_BYTES_MAX: '1000000000' }
const certified = { SHUTTERFLEET_EGRESS_CERTIFICATE_FILE: cert, SHUTTERFLEET_EGRESS_KEY_FILE: key }
using plain = startEgressProcess(allow)
using tls = startEgressProcess({ ...allow, ...certified })
using trust = await openEgressTrust(cert, fail)
const portOf = async ({ announced }: typeof plain) => Number(new URL((await announced).egress ?? '').port)

const open = async (egress: EgressAddress) => {
  const to = { target: { host: '127.0.0.1', port: target.port }, client: new Socket() }
  const tunnel = await requestTunnel({ egress, egressToken: '' }, capture, to)
  if (typeof tunnel === 'string') throw new Error(tunnel)
  return tunnel
}
const sides = {
  plain: { pid: plain.child.pid ?? 0, egress: { host: 'localhost', port: await portOf(plain) } },
  TLS: { pid: tls.child.pid ?? 0, egress: { host: 'localhost', port: await portOf(tls), trust } },
}
type Side = keyof typeof sides
const cpuOf = (side: Side) =>
  cpuSeconds(sides[side].pid) + process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6

const shortTunnels = async (side: Side) => {
  const times: number[] = []
  const before = cpuOf(side)
  for (let count = 0; count < tunnels / rounds; count += 1) {
    const startedAt = performance.now()
    const tunnel = await open(sides[side].egress)
    tunnel.write('x')
    await once(tunnel, 'data')
    times.push(performance.now() - startedAt)
    tunnel.destroy()
  }
  return { times, cpuMs: ((cpuOf(side) - before) * 1000) / times.length }
}
const stream = async (side: Side) => {
  const tunnel = await open(sides[side].egress)
  const [startedAt, before] = [performance.now(), cpuOf(side)]
  tunnel.write('s')
  tunnel.resume()
  await once(tunnel, 'end')
  tunnel.destroy()
  return {
    mibPerSecond: streamBytes / 2 ** 20 / ((performance.now() - startedAt) / 1000),
    cpuSeconds: cpuOf(side) - before,
  }
}

for (const side of ['plain', 'TLS'] as const) await shortTunnels(side)
const found = {
  plain: [] as Awaited<ReturnType<typeof shortTunnels>>[],
  TLS: [] as Awaited<ReturnType<typeof shortTunnels>>[],
}
const streams = { plain: [] as Awaited<ReturnType<typeof stream>>[], TLS: [] as Awaited<ReturnType<typeof stream>>[] }
for (let round = 0; round < rounds; round += 1) {
  for (const side of ['plain', 'TLS'] as const) {
    found[side].push(await shortTunnels(side))
    streams[side].push(await stream(side))
  }
}
const median = (values: readonly number[]) => quantile(values, 0.5)
for (const side of ['plain', 'TLS'] as const) {
  const times = found[side].flatMap((each) => each.times)
  process.stdout.write(
    `${side}: tunnel ${median(times).toFixed(2)} ms (p99 ${quantile(times, 0.99).toFixed(2)}), ` +
      `${median(found[side].map(({ cpuMs }) => cpuMs)).toFixed(2)} ms of processor; ` +
      `stream ${median(streams[side].map(({ mibPerSecond }) => mibPerSecond)).toFixed(0)} MiB/s, ` +
      `${median(streams[side].map((each) => each.cpuSeconds)).toFixed(2)} s of processor for ${streamBytes / 2 ** 20} MiB\n`,
  )
}
trust?.[Symbol.dispose]()
await rm(folder, { recursive: true })
