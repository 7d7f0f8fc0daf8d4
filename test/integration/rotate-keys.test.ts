import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:http'
import t from 'tap'
import type { Secrets } from '#local/secrets.ts'
import { generateSealingKeys } from '#shared/queue/seal.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { makeCertificate, startReceiver } from '#test/helpers/webhook-receiver.ts'

// The key rotation of docs/operations.md on a whole system, whose services read their keys as in a cluster.

const data = await mkdtemp(join(tmpdir(), 'rotate-keys-'))
t.teardown(() => rm(data, { recursive: true, force: true }))
const certificate = await makeCertificate(['localhost'])
const receiver = await startReceiver(certificate, () => 200)
const held = Promise.withResolvers<void>()
const site = await listening(
  createServer((_, response) => void held.promise.then(() => response.end('<h1>A page</h1>'))),
)
t.teardown(async () => {
  held.resolve()
  for (const each of [receiver, certificate, site]) await each[Symbol.asyncDispose]()
})
const start = (linkKeys: string, recordKeys: string) =>
  startSystem(['--allow-target', '127.0.0.0/8', '--workers-max', '1', '--extra-ca', certificate.certPath], {
    dataDir: data,
    env: { SHUTTERFLEET_LINK_SIGNING_KEYS: linkKeys, SHUTTERFLEET_RECORD_KEYS: recordKeys },
  })
const namedKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
type Pair = { readonly public: string; readonly private: string }

/** A new key pair for sealing; the old private key still opens. */
const rotatedPair = (old: Pair): Pair => {
  const created = generateSealingKeys()
  return { public: created.public, private: `${created.private},${old.private}` }
}
const password = () => randomBytes(24).toString('base64url')

/** Replaces the secrets that may change while captures wait; the pepper and PostgreSQL's password may not. */
const rotated = ({ sealingKeys, queuePasswords, ...secrets }: Secrets): Secrets => ({
  ...secrets,
  egressToken: password(),
  webhookEgressToken: password(),
  queuePasswords: Object.fromEntries(
    Object.keys(queuePasswords).map((name) => [name, password()]),
  ) as Secrets['queuePasswords'],
  sealingKeys: {
    standard: rotatedPair(sealingKeys.standard),
    proxied: rotatedPair(sealingKeys.proxied),
    stealth: rotatedPair(sealingKeys.stealth),
  },
  webhookKeys: rotatedPair(secrets.webhookKeys),
})
const imageStatus = async (system: System, id: string) => (await system.request(`/v1/screenshots/${id}/image`)).status
const completes = async (system: System, id: string, t: { match: (found: unknown, expected: object) => boolean }) => {
  const hasEnded = async () => ['completed', 'failed'].includes((await system.record(id)).status)
  await eventually(hasEnded, { what: `${id} ends`, withinMs: 60_000 })
  t.match(await system.record(id), { status: 'completed' })
}
const change = async (by: (secrets: Secrets) => Secrets) => {
  const path = join(data, 'secrets.json')
  await writeFile(path, JSON.stringify(by(JSON.parse(await readFile(path, 'utf8')) as Secrets)))
}

t.test('keys: all replaceable keys are rotated, and captures that were accepted before complete', async (t) => {
  const [oldLink, oldRecord] = [namedKey('1'), namedKey('1')]
  const system = await start(oldLink, oldRecord)
  t.teardown(() => system.stop())
  const done = await system.create({ html: '<h1>Before</h1>', css: 'h1 { color: red }' })
  await completes(system, done, t)
  const hook = await system.post('/v1/webhooks', { url: `https://127.0.0.1:${receiver.port}/in` })
  const { id: webhook } = ((await hook.json()) as { data: { id: string } }).data
  const signed = await system.post(`/v1/screenshots/${done}/signed-url`, {})
  const link = new URL(((await signed.json()) as { data: { url: string } }).data.url)
  // The first capture holds the only slot; the second waits, sealed with the old key.
  const url = `http://127.0.0.1:${site.port}/`
  await system.create({ url })
  const waiting = await system.create({ html: '<h1>Waiting</h1>' })
  const stopping = system.stop()
  held.resolve()
  await stopping

  await change(rotated)
  const recordKeys = `${namedKey('2')},${oldRecord}`
  const after = await start(`${namedKey('2')},${oldLink}`, recordKeys)
  t.teardown(() => after.stop())
  await completes(after, waiting, t)
  t.equal(await imageStatus(after, waiting), 200)
  t.equal(await imageStatus(after, done), 200)
  t.match(await after.record(done), { options: { css: 'h1 { color: red }' } }, 'a record of the previous key is shown')
  const local = new URL(link.pathname + link.search, after.baseUrl)
  t.equal((await fetch(local)).status, 200, 'a link of the previous key is accepted')
  await after.post(`/v1/webhooks/${webhook}/test`, {})
  await eventually(() => receiver.received.some(({ body }) => body.includes('webhook.test')), {
    what: 'a webhook whose secret is sealed with the old key is sent',
    withinMs: 30_000,
  })
  await after.stop()

  // Upload URLs are signed when a capture is accepted, so no capture may wait.
  await change((secrets) => ({ ...secrets, storageSigningKey: randomBytes(32).toString('base64') }))
  const last = await start(namedKey('3'), recordKeys)
  t.teardown(() => last.stop())
  const gone = new URL(link.pathname + link.search, last.baseUrl)
  t.equal((await fetch(gone)).status, 403, 'a link is invalid without its key')
  await completes(last, await last.create({ html: '<h1>After</h1>' }), t)
  t.equal(await imageStatus(last, done), 200)
  await last.stop()
})
