import t from 'tap'
import { Shutterfleet } from '#client/shutterfleet.js'
import { captureAndWait, captureResult } from '#shared/mcp/captures.ts'

const id = '22222222-2222-4222-8222-222222222222'
const doubles = { signal: new AbortController().signal, reserve: () => true, progress: () => {} }

t.test('mcp captures: a capture that was accepted is named, even if the wait for it fails', async (t) => {
  const requests: string[] = []
  const client = new Shutterfleet({
    baseUrl: 'https://shots.example',
    apiKey: 'key',
    retries: 0,
    fetch: (input, { method } = {}) => {
      requests.push(`${method} ${(input as string).slice('https://shots.example'.length)}`)
      if (method === 'POST') return Promise.resolve(Response.json({ data: { id, status: 'pending' } }, { status: 202 }))
      return Promise.reject(new Error('the gateway is closing'))
    },
  })
  const call = { ...doubles, client }
  const accepted = await captureAndWait(call, { url: 'https://example.com/' })
  t.same(accepted, { id, record: undefined })
  t.same(requests, ['POST /v1/screenshots', `GET /v1/screenshots/${id}?wait=50`], 'the wait stays below 60 s')
  const { isError, content } = await captureResult(call, { ...accepted, side: 2000 })
  t.notOk(isError)
  t.match(content, [{ text: `capture ${id} was accepted and has not ended: call status with this id and wait` }])
})

t.test(
  'mcp captures: a page that has not loaded in time is captured as it is, unless the call says otherwise',
  async (t) => {
    const bodies: unknown[] = []
    const client = new Shutterfleet({
      baseUrl: 'https://shots.example',
      apiKey: 'key',
      retries: 0,
      fetch: (_input, { body } = {}) => {
        if (typeof body === 'string') bodies.push(JSON.parse(body))
        return Promise.resolve(Response.json({ data: { id, status: 'failed' } }, { status: 202 }))
      },
    })
    const call = { ...doubles, client }
    for (const more of [{}, { on_timeout: 'fail' }])
      await captureAndWait(call, { url: 'https://example.com/', ...more })
    t.match(bodies, [{ on_timeout: 'capture' }, { on_timeout: 'fail' }])
  },
)
