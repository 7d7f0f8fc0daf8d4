import { presignSignatureV4 } from 'minio/dist/esm/signing.mjs'
import t from 'tap'
import type { S3Keys } from '#shared/storage/s3-keys.ts'
import { createPutSigner } from '#shared/storage/sign-put.ts'
import { newObjectKey } from '#shared/storage/objects.ts'

const at = new Date('2026-11-20T23:59:59.500Z')
const target = {
  endPoint: 'store.example',
  port: 9000,
  useSSL: false,
  region: 'eu-west-1',
  bucket: 'images',
}

const keys: S3Keys = { accessKey: 'AK/+=1', secretKey: 'se/cr+et' }
const temporary: S3Keys = { ...keys, sessionToken: 'to/k+en==' }

const theirs = (of: typeof target, key: string, date: Date, { accessKey, secretKey, sessionToken } = keys): string => {
  const { endPoint, port, useSSL, region, bucket } = of
  const name = endPoint.includes(':') ? `[${endPoint}]` : endPoint
  const host = port === (useSSL ? 443 : 80) ? name : `${name}:${port}`
  const request = {
    method: 'PUT',
    protocol: useSSL ? 'https:' : 'http:',
    path: `/${bucket}/${key}`,
    headers: { host, 'if-none-match': '*' },
  }
  return presignSignatureV4(request, accessKey, secretKey, sessionToken, region, date, 600)
}

t.test("sign put: signs as the store's own client does", async (t) => {
  const key = newObjectKey('0d9f6c1e-0000-4000-8000-000000000001', at)
  const plain = { ...target, useSSL: true, port: 443, endPoint: 's3.eu-west-1.example' }
  const v6 = { ...target, endPoint: '2001:db8::1' }
  for (const each of [target, plain, { ...target, port: 80 }, v6, { ...v6, port: 80 }]) {
    t.equal(createPutSigner(each, keys)(key, { at, lifetimeSeconds: 600 }), theirs(each, key, at))
  }
  const address = createPutSigner(target, temporary)(key, { at, lifetimeSeconds: 600 })
  t.same(new Set(address.split(/[?&]/)), new Set(theirs(target, key, at, temporary).split(/[?&]/)), 'with a session')
})

t.test('sign put: derives a new signing key on a new day', async (t) => {
  const sign = createPutSigner(target, keys)
  const next = new Date('2026-11-21T00:00:00Z')
  sign('captures/a', { at, lifetimeSeconds: 600 })
  t.equal(sign('captures/a', { at: next, lifetimeSeconds: 600 }), theirs(target, 'captures/a', next))
})
