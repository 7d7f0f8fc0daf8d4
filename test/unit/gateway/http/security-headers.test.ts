import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { completedCapture, createTestContext, testKey } from '#test/helpers/gateway-context.ts'

const paths = [
  '/v1/openapi.json',
  '/v1/docs',
  '/v1/account',
  `/v1/screenshots/${completedCapture.id}/image`,
  '/v1/nothing',
  '/console',
  '/console/api/sign-in',
  '/healthz',
  '/',
]

t.test('security headers: every response has nosniff, and HSTS where the public URL has TLS', async (t) => {
  for (const [publicUrl, hsts] of [
    ['https://shots.example', 'max-age=31536000'],
    ['http://127.0.0.1:8080', undefined],
  ] as const) {
    const app = createApp({ ...createTestContext(), publicUrl: () => publicUrl })
    t.teardown(() => app.close())
    for (const url of paths) {
      const { headers } = await app.inject({ url, headers: { authorization: `Bearer ${testKey}` } })
      t.same([headers['x-content-type-options'], headers['strict-transport-security']], ['nosniff', hsts], url)
    }
  }
})
