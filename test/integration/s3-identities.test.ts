import { createHash, createSign, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { newObjectKey } from '#shared/storage/objects.ts'
import { keysOfAddress, openKeys } from '#shared/storage/open-keys.ts'
import { openStore } from '#shared/storage/open-store.ts'
import { createS3Store } from '#shared/storage/s3-store.ts'
import { ImageUpload } from '#worker/delivery/store-image.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { recordIdentityReports } from '#test/helpers/identity-reports.ts'
import { createImageStore } from '#test/helpers/image-store.ts'
import { startMinio } from '#test/helpers/minio.ts'
import { onMinio, startS3 } from '#test/helpers/s3.ts'

const newKey = () => newObjectKey('0d9f6c1e-0000-4000-8000-000000000001', new Date())
const bytes = Buffer.from('an image')
const withoutKeys = (address: string) => Object.assign(new URL(address), { username: '', password: '' }).href

t.test(
  's3 identities: keys in a file are used within a second of their change, and new addresses are signed with them',
  async (t) => {
    await using server = await startS3()
    const { username, password } = new URL(server.url)
    const s3KeysFile = join(t.testdir(), 'credentials')
    const write = (secret: string) =>
      writeFile(s3KeysFile, `[default]\naws_access_key_id=${username}\naws_secret_access_key=${secret}\n`)
    await write(password)
    const settings = { ...keysOfAddress, s3KeysFrom: 'file', s3KeysFile } as const
    const store = createS3Store(withoutKeys(server.url), (region, keys) => openKeys(settings, region, keys))
    const key = newKey()
    const accepted = await store.signPut(key, 600)

    await server.stop()
    await server.start('another-secret')
    await write('another-secret')
    // The refusal makes it read the file at once.
    await store.put(newKey(), bytes, 'image/png')
    let signed = 0
    const { store: images } = createImageStore(async () => {
      signed += 1
      return { key, url: await store.signPut(key, 600) }
    })
    const image = { bytes, mimeType: 'image/png' }
    const upload = new ImageUpload(images, { id: 'capture', image, put: { key, url: accepted }, isExclusive: true })
    t.equal(await upload.storeBy(performance.now() + 20_000), key, 'the image is stored')
    t.equal(signed, 1, 'at a new address, once the one signed at acceptance was refused')
    t.same(await buffer((await store.get(key))!.body), bytes)
  },
)

t.test('s3 identities: a file of keys that cannot be read is reported, and the keys stay in use', async (t) => {
  await using server = await startS3()
  const { username, password } = new URL(server.url)
  const s3KeysFile = join(t.testdir(), 'credentials')
  const keys = `[default]\naws_access_key_id=${username}\naws_secret_access_key=${password}\n`
  await writeFile(s3KeysFile, keys)
  const { reports, ends, failures } = recordIdentityReports()
  const { objects } = await openStore(
    {
      ...keysOfAddress,
      s3KeysFrom: 'file',
      s3KeysFile,
      storageDriver: 's3',
      s3Url: withoutKeys(server.url),
      storageFolder: '',
      storageFilesUrl: undefined,
      storageSigningKey: '',
    },
    reports,
  )
  const key = newKey()
  await objects.put(key, bytes, 'image/png')
  t.strictSame([ends.length, failures.length], [1, 0])
  await writeFile(s3KeysFile, `[default]\naws_secret_access_key=${password}\n`)
  const isRead = async () => bytes.equals(await buffer((await objects.get(key))!.body))
  await eventually(async () => (await isRead()) && failures.length > 0, { what: 'the file is read again' })
  t.match(failures[0], { setting: 'SHUTTERFLEET_S3_KEYS_FROM', reason: /credentials, profile \[default\]/ })
  t.notMatch(JSON.stringify(failures), password)
  t.ok(await isRead(), 'with the keys from before')
  await writeFile(s3KeysFile, keys)
  await eventually(async () => (await isRead()) && ends.length > 1, { what: 'the file is read once more' })
})

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const audience = 'images'

/** The token of a service account, as a cluster issues it. */
const newToken = (issuer: string, aud = audience): string => {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud, sub: 'system:serviceaccount:shots:shots', iat: now, exp: now + 900 }
  const text = `${encode({ alg: 'RS256', kid: 'test' })}.${encode(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}

/** Publishes what a cluster publishes about its tokens. */
const startIssuer = async () => {
  const jwk = { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'test' }
  let issuer = ''
  const server = await listening(
    createServer(({ url }, response) => {
      const metadata = {
        issuer,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_endpoint: issuer,
        token_endpoint: issuer,
      }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(url === '/keys' ? { keys: [jwk] } : metadata))
    }),
  )
  issuer = `http://127.0.0.1:${server.port}`
  return { issuer, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

t.test(
  's3 identities: a role assumed with the token of a service account stores images, also once its session has ended',
  { skip: !onMinio && 'the small server has no STS' },
  async (t) => {
    await using cluster = await startIssuer()
    await using server = await startMinio({
      env: {
        MINIO_IDENTITY_OPENID_CONFIG_URL: `${cluster.issuer}/.well-known/openid-configuration`,
        MINIO_IDENTITY_OPENID_CLIENT_ID: audience,
        MINIO_IDENTITY_OPENID_ROLE_POLICY: 'readwrite',
      },
    })
    const { origin } = new URL(server.url)
    const role = createHash('sha1').update(audience).digest('base64url')
    const s3TokenFile = join(t.testdir(), 'token')
    const settings = {
      ...keysOfAddress,
      s3KeysFrom: 'web-identity',
      s3RoleArn: `arn:minio:iam:::role/${role}`,
      s3KeysUrl: origin,
      s3TokenFile,
    } as const
    const store = createS3Store(withoutKeys(server.url), (region, keys) => openKeys(settings, region, keys))

    await writeFile(s3TokenFile, newToken(cluster.issuer, 'another-audience'))
    await t.rejects(store.put(newKey(), bytes, 'image/png'), { code: 'SERVICE_UNAVAILABLE', message: /no valid keys/ })

    await writeFile(s3TokenFile, newToken(cluster.issuer))
    const key = newKey()
    const stored = () => store.put(newKey(), bytes, 'image/png').then(() => true)
    await eventually(() => stored().catch(() => false), { what: 'the next renewal' })
    const accepted = await store.signPut(key, 600)
    t.match(accepted, /&X-Amz-Security-Token=[^&]{100}/)
    // MinIO signs sessions with its own secret, so that a new one ends them.
    await server.stop()
    await server.start('another-secret')
    let status = 503
    const isReady = async () => {
      const sent = await fetch(accepted, { method: 'PUT', body: bytes, headers: { 'if-none-match': '*' } })
      status = sent.status
      return status !== 503
    }
    await eventually(isReady, { what: 'MinIO has read its policies' })
    t.ok([400, 403].includes(status), `an address ends with its session: ${status}`)
    t.ok(await stored(), 'a refused session is replaced by a new one within the same call')

    const { store: images } = createImageStore(async () => ({ key, url: await store.signPut(key, 600) }))
    const image = { bytes, mimeType: 'image/png' }
    const upload = new ImageUpload(images, { id: 'capture', image, put: { key, url: accepted }, isExclusive: true })
    t.equal(await upload.storeBy(performance.now() + 20_000), key)
    t.same(await buffer((await store.get(key))!.body), bytes)
    t.ok((await Array.fromAsync(store.list('captures/'))).includes(key))
    t.same(await store.delete([key]), [])
    t.equal(await store.get(key), undefined)
  },
)
