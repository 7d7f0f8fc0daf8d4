import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import t from 'tap'
import { lanes } from '#shared/capture/lane.ts'
import { connectQueue, type QueueNotice } from '#shared/queue/connection.ts'
import type { QueueIdentity } from '#shared/queue/identity.ts'
import { type QueueUserName, userInboxPrefix } from '#shared/queue/permissions.ts'
import { lastMessage, publishStored } from '#shared/queue/stored.ts'
import { declareStreams } from '#shared/queue/streams.ts'
import { captureSubject, startedSubject } from '#shared/queue/subjects.ts'
import { capturesStream, resultsStream } from '#shared/queue/topology.ts'
import { makeAuthority } from '#test/helpers/authority.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { recordIdentityReports } from '#test/helpers/identity-reports.ts'
import { createNatsOperator } from '#test/helpers/nats-operator.ts'
import { startNats } from '#test/helpers/nats.ts'
import { LanePuller } from '#worker/delivery/lane-puller.ts'

const none: QueueIdentity = {
  natsCredentialsFile: '',
  natsNkeyFile: '',
  natsCertificateFile: '',
  natsKeyFile: '',
  natsCaFile: '',
}
const operator = createNatsOperator()
const nats = await startNats(t, { config: operator.config })
const folder = t.testdir()

const connect = async (
  name: QueueUserName,
  identity: Partial<QueueIdentity>,
  { url = nats.url, identityEveryMs }: { url?: string; identityEveryMs?: number | undefined } = {},
) => {
  const notices: QueueNotice['kind'][] = []
  const { reports: identityReports, ...reported } = recordIdentityReports()
  const queue = await connectQueue({
    url,
    identity: { ...none, ...identity },
    identityReports,
    identityEveryMs,
    name,
    inboxPrefix: userInboxPrefix(name),
    notice: ({ kind }) => notices.push(kind),
  })
  t.teardown(() => queue[Symbol.asyncDispose]())
  return { queue, notices, ...reported }
}

const withCredentials = async (name: QueueUserName, seconds?: number, identityEveryMs?: number) => {
  const path = join(folder, `${name}.creds`)
  await writeFile(path, operator.credentials(name, seconds))
  return { path, ...(await connect(name, { natsCredentialsFile: path }, { identityEveryMs })) }
}

t.test('queue identities: services and workers work with credentials of an operator and its accounts', async (t) => {
  const [ledger, gateway, worker] = [
    await withCredentials('ledger'),
    await withCredentials('gateway'),
    await withCredentials('worker_standard'),
  ]
  await withCredentials('controller')
  await declareStreams(ledger.queue)
  const capture = { pool: 'standard', lane: 'normal', accountId: 'a', id: 'one' } as const
  await publishStored(gateway.queue, captureSubject(capture), Buffer.from('work'))
  using puller = new LanePuller(worker.queue, 'standard')
  const taken = await puller.take(lanes, AbortSignal.timeout(20_000))
  t.equal(Buffer.from(taken?.data ?? []).toString(), 'work')
  await publishStored(worker.queue, startedSubject(capture), Buffer.from('started'))
  const report = await lastMessage(worker.queue, resultsStream.name, startedSubject(capture))
  t.equal(Buffer.from(report?.data ?? []).toString(), 'started')
  await t.rejects(lastMessage(worker.queue, capturesStream.name, captureSubject(capture)), 'not what it may not read')
})

t.test(
  'queue identities: expired credentials end a connection, which returns with those in the file by then',
  async (t) => {
    const { path, queue, notices } = await withCredentials('worker_proxied', 2)
    await eventually(() => notices.includes('lost'), { withinMs: 20_000, what: 'the connection is lost' })
    // Several tries are refused, and one finds a file that is being written. Until then, the server may accept what expires in this second.
    await writeFile(path, 'half a file')
    notices.length = 0
    await eventually(() => notices.filter((kind) => kind === 'error').length >= 3, { what: 'tries are refused' })
    t.notOk(queue.isConnected())
    await writeFile(path, operator.credentials('worker_proxied'))
    await eventually(() => queue.isConnected(), { withinMs: 20_000, what: 'the connection is back' })
  },
)

t.test('queue identities: a file that a later connection could not use is reported while this one works', async (t) => {
  const { path, queue, ends, failures } = await withCredentials('gateway', 600, 50)
  const inTenMinutes = (ms: number | undefined) => Math.abs((ms ?? 0) - Date.now() - 600_000) < 60_000
  t.ok(inTenMinutes(ends[0]), `ends at ${ends[0]}`)
  const setting = 'SHUTTERFLEET_NATS_CREDENTIALS_FILE'
  const seed = /SU[A-Z2-7]{56}/.exec(operator.credentials('gateway'))?.[0] ?? ''
  for (const [text, reason] of [
    [`half a file with ${seed}`, /unable to parse credentials/],
    [operator.credentials('gateway', -1), /gateway\.creds has expired/],
  ] as const) {
    failures.length = 0
    await writeFile(path, text)
    await eventually(() => failures.some((each) => reason.test(each.reason)), { what: String(reason) })
    t.match(failures.at(-1), { setting })
    t.notMatch(JSON.stringify(failures), seed)
  }
  t.ok(queue.isConnected())
  await writeFile(path, operator.credentials('gateway'))
  ends.length = 0
  await eventually(() => ends.length > 0, { what: 'the file is read again' })
  t.equal(ends.at(-1), undefined, 'without an end')

  await queue[Symbol.asyncDispose]()
  await writeFile(path, 'half a file')
  failures.length = 0
  const other = await withCredentials('ledger', 600, 50)
  await eventually(() => other.ends.length > 4, { what: 'a later connection has read its file several times' })
  t.strictSame(failures, [], 'a closed connection reads nothing')
})

t.test('queue identities: by nkey and TLS certificate, each read for every connection', async (t) => {
  const authority = await makeAuthority()
  t.teardown(() => authority[Symbol.asyncDispose]())
  const { caPath, certPath, keyPath } = authority
  const [first, second] = [nkeys.createUser(), nkeys.createUser()]
  const tls = `tls { cert_file: "${certPath}", key_file: "${keyPath}", ca_file: "${caPath}", verify: true }`
  const users = [first, second].map((pair) => `{ nkey: ${pair.getPublicKey()} }`).join(', ')
  const server = await startNats(t, { config: `${tls}\nauthorization { users: [${users}] }` })
  const natsNkeyFile = join(folder, 'seed')
  await writeFile(natsNkeyFile, `${Buffer.from(first.getSeed()).toString()}\n`)
  const client = await authority.issue('worker')
  const identity = {
    natsNkeyFile,
    natsCertificateFile: client.certPath,
    natsKeyFile: client.keyPath,
    natsCaFile: caPath,
  }
  const url = server.url.replace('nats://127.0.0.1', 'tls://localhost')
  const { queue } = await connect('gateway', identity, { url })
  const whoAmI = async () => {
    const reply = await queue.request('$SYS.REQ.USER.INFO', new Uint8Array(), 5000)
    return (JSON.parse(Buffer.from(reply.data).toString()) as { data: { user: string } }).data.user
  }
  t.equal(await whoAmI(), first.getPublicKey())

  await writeFile(natsNkeyFile, second.getSeed())
  await authority.issue('worker')
  await server.restart()
  await eventually(() => queue.isConnected(), { withinMs: 20_000, what: 'the connection is back' })
  t.equal(await whoAmI(), second.getPublicKey())
})

t.test('queue identities: a file that cannot be used, or settings that contradict each other, are named', async (t) => {
  const missing = join(folder, 'missing')
  await t.rejects(connect('gateway', { natsCredentialsFile: missing }), {
    code: 'SERVICE_UNAVAILABLE',
    message: /missing cannot be used: .*ENOENT/,
  })
  await t.rejects(connect('gateway', { natsCredentialsFile: missing, natsNkeyFile: missing }), {
    code: 'CONFIGURATION',
    publicMessage: /NATS_CREDENTIALS_FILE and SHUTTERFLEET_NATS_NKEY_FILE are both set/,
  })
  await t.rejects(connect('gateway', { natsCertificateFile: missing }), {
    code: 'CONFIGURATION',
    publicMessage: /NATS_CERTIFICATE_FILE and SHUTTERFLEET_NATS_KEY_FILE must be set together/,
  })
})
