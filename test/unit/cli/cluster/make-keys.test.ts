import t from 'tap'
import { makeKeys, workerKeys } from '#cli/cluster/make-keys.ts'
import { readOpeningKey, readSealingKey } from '#shared/queue/seal.ts'

const none = { nats: undefined, postgres: undefined }
const foreign = (nats = {}, authorities?: string) => ({ nats, authorities })
const own = { nats: 'nats:4222', postgres: 'postgres:5432' }

t.test('keys: keeps existing keys, and creates missing ones only', async (t) => {
  const keys = makeKeys({ 'key-pepper': 'kept' }, own)
  t.equal(keys['key-pepper'], 'kept')
  t.strictSame(makeKeys(keys, own), keys)
  t.not(makeKeys({}, none)['egress-token'], makeKeys({}, none)['egress-token'])
})

t.test('keys: egress has a list of tokens, its clients have one of them', async (t) => {
  const keys = makeKeys({}, none)
  t.equal(keys['egress-tokens'], keys['egress-token'])
  const turning = { ...keys, 'egress-tokens': `${keys['egress-token']},next` }
  t.match(makeKeys(turning, none), { 'egress-token': keys['egress-token'], 'egress-tokens': /,next$/ })
})

t.test('keys: a bundled NATS gets the users of this version; existing passwords stay', async (t) => {
  const keys = makeKeys({}, own)
  const { 'nats.conf': before, 'worker-stealth-url': _, ...older } = keys
  const made = makeKeys({ ...older, 'nats.conf': 'of an older version' }, own)
  t.match(made['nats.conf'], new URL(made['worker-stealth-url'] ?? '').password)
  t.equal(made['gateway-url'], keys['gateway-url'])
  t.match(before, new URL(keys['worker-stealth-url'] ?? '').password)
})

t.test('keys: creates both halves of a key pair, and rejects one without the other', async (t) => {
  const keys = makeKeys({}, none)
  const kidOf = (name: string) => [
    readSealingKey(keys[`sealing-key-${name}`] ?? '').kid,
    readOpeningKey(keys[`opening-keys-${name}`] ?? '').kid,
  ]
  const [public_, private_] = kidOf('standard')
  t.equal(public_, private_)
  t.throws(() => makeKeys({ 'sealing-key-standard': 'half' }, none), /one of sealing-key-standard and opening-keys-/)
})

t.test('keys: the passwords of bundled NATS and PostgreSQL are in their URLs', async (t) => {
  t.strictSame(
    Object.keys(makeKeys({}, none)).filter((name) => /nats|postgres|-url/.test(name)),
    [],
  )
  const keys = makeKeys({}, own)
  t.equal(keys['database-url'], `postgres://shutterfleet:${keys['postgres-password']}@postgres:5432/shutterfleet`)
  const { username, password, host } = new URL(keys['gateway-url'] ?? '')
  t.strictSame([username, host], ['gateway', 'nats:4222'])
  t.match(keys['nats.conf'], `{ user: gateway, password: "${password}"`)
})

t.test('keys: workers get the URL of their own NATS user', async (t) => {
  const keys = makeKeys({}, own)
  t.match(workerKeys('stealth', keys, foreign()), { 'nats-url': keys['worker-stealth-url'] })
  t.strictSame(workerKeys('proxied', keys, foreign({ 'worker-proxied-url': 'nats://other\n' })), {
    'nats-url': 'nats://other',
    'opening-keys': keys['opening-keys-proxied'],
    'egress-token': keys['egress-token'],
  })
  t.throws(
    () => workerKeys('standard', makeKeys({}, none), foreign()),
    /no address of NATS for the workers of pool standard/,
  )
})

t.test('keys: workers get the files of their own NATS user and of no other', async (t) => {
  const nats = {
    'worker-standard-url': 'nats://other',
    'worker-standard-credentials': 'JWT\n',
    'worker-standard-tls.crt': 'certificate',
    'worker-standard-tls.key': 'key',
    'worker-stealth-nkey': 'seed',
    'gateway-credentials': 'of the gateway',
  }
  const filesOf = (secret: object) => Object.entries(secret).filter(([name]) => /^nats-(?!url)/.test(name))
  const keys = makeKeys({}, own)
  t.strictSame(Object.fromEntries(filesOf(workerKeys('standard', keys, foreign(nats)))), {
    'nats-credentials': 'JWT\n',
    'nats-tls.crt': 'certificate',
    'nats-tls.key': 'key',
  })
  t.strictSame(filesOf(workerKeys('stealth', keys, foreign(nats))), [['nats-nkey', 'seed']])
  t.strictSame(filesOf(workerKeys('proxied', keys, foreign(nats))), [])
})

t.test('keys: workers get the trusted authorities if there are any', async (t) => {
  const keys = makeKeys({}, own)
  t.notOk('ca.crt' in workerKeys('standard', keys, foreign()))
  t.equal(workerKeys('standard', keys, foreign({}, 'PEM'))['ca.crt'], 'PEM')
})

t.test('keys: egress filters get certificates, and clients what they trust, only if they have names', async (t) => {
  t.notMatch(Object.keys(makeKeys({}, none)).join(' '), /tls|ca\.crt/)
  const hosts = { egress: ['shots-egress.shots.svc'], 'webhook-egress': [] }
  const keys = makeKeys({}, none, hosts)
  t.match(keys['egress-ca.crt'], keys['egress-tls.crt'])
  t.notOk('webhook-egress-ca.crt' in keys)
  t.strictSame(makeKeys(keys, none, hosts), keys)
  const ofWorkers = workerKeys('standard', { ...keys, 'worker-standard-url': 'nats://a' }, foreign())
  t.equal(ofWorkers['egress-ca.crt'], keys['egress-ca.crt'])
  t.notMatch(JSON.stringify(ofWorkers), /PRIVATE KEY/)
})
