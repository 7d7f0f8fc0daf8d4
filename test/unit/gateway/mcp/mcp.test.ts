import t, { type Test } from 'tap'
import { createApp } from '#gateway/app.ts'
import {
  completedCapture,
  createTestContext,
  pendingCapture,
  testImage,
  testKey,
} from '#test/helpers/gateway-context.ts'

const start = (t: Test, settings: { hasMcp: boolean }) => {
  const context = { ...createTestContext(), ...settings }
  const app = createApp(context)
  t.teardown(() => app.close())
  const call = (input: Record<string, unknown> = {}) =>
    app.inject({
      method: 'POST',
      url: '/mcp',
      remoteAddress: '198.51.100.7',
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-request-id': 'mine',
      },
      payload: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'status', arguments: { id: pendingCapture.id, ...input } },
      }),
    })
  return { context, call }
}

t.test('mcp: is not served unless the setting is on', async (t) => {
  const { call } = start(t, { hasMcp: false })
  const answer = await call()
  t.equal(answer.statusCode, 404)
  t.match(answer.json(), { error: { code: 'NOT_FOUND', message: /SHUTTERFLEET_MCP=true/ } })
})

t.test('mcp: operations identify the client of the request, whose activity is recorded once', async (t) => {
  const { context, call } = start(t, { hasMcp: true })
  const answer = await call()
  t.equal(answer.statusCode, 200, answer.body)
  t.match(context.calls.activities, [{ operation: 'status', client: '198.51.100.7' }])
  t.equal(context.calls.activities.length, 1)
  t.equal(answer.headers['x-request-id'], 'mine')
})

t.test('mcp: a key that is not valid is refused before any tool, and counts as a guess of the client', async (t) => {
  const { context, call } = start(t, { hasMcp: true })
  context.answers.validKey = () => false
  const settled: string[] = []
  context.keyGuesses.admit = (_keyHash, client) => {
    const { network } = client()
    return Promise.resolve({ waitSeconds: 0, settle: (key) => void settled.push(`${network} ${key}`) })
  }
  t.equal((await call()).statusCode, 401)
  t.same(settled, ['198.51.100.7 wrong'])
  t.same(context.calls.activities, [])
})

const contentOf = (answer: { json: () => unknown }) =>
  (answer.json() as { result: { content: { type: string; text?: string; data?: string }[] } }).result.content

t.test('mcp: a picture is reserved in memory while its response is made, and then released', async (t) => {
  const { context, call } = start(t, { hasMcp: true })
  const sizes: number[] = []
  const { hold } = context.bufferedImages
  context.bufferedImages.hold = (bytes) => {
    sizes.push(bytes)
    return hold(bytes)
  }
  const [picture] = contentOf(await call({ picture: true }))
  t.match(picture, { type: 'image', data: testImage.toString('base64') })
  t.ok(sizes.includes(4 * testImage.length))
  t.equal(context.bufferedImages.count(), 0)
})

t.test('mcp: a picture for which memory is short is named by its address', async (t) => {
  const { context, call } = start(t, { hasMcp: true })
  context.bufferedImages.fits = (bytes) => bytes <= testImage.length
  t.match(contentOf(await call({ picture: true })), [
    { type: 'text', text: `memory is short now: download https://shots.example/v1/screenshots/${completedCapture.id}` },
    { type: 'text' },
  ])
})
