import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { describeError, storeImage } from '#worker/delivery/store-image.ts'

t.test('store image: joins the messages of an error and its causes, four at most', async (t) => {
  const nested = (depth: number): Error =>
    depth === 1 ? new Error('1') : new Error(String(depth), { cause: nested(depth - 1) })
  t.equal(describeError(nested(2)), '2: 1')
  t.equal(describeError(nested(9)), '9: 8: 7: 6')
  t.equal(describeError('text'), 'text')
  t.equal(describeError({}), 'unknown error')
})

const image = { bytes: Buffer.from('picture'), mimeType: 'image/png' }

const storeThat = async (t: { teardown: (clean: () => void) => void }, answers: readonly number[]) => {
  const seen: { type: string | undefined; once: string | undefined; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.push({ type: request.headers['content-type'], once: request.headers['if-none-match'], body })
    response.writeHead(answers[seen.length - 1] ?? 200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const put = { key: 'k', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/k` }
  return { seen, store: (withinMs = 20_000) => storeImage(put, image, performance.now() + withinMs) }
}

t.test('store image: uploads the bytes once, with their media type', async (t) => {
  const { seen, store } = await storeThat(t, [])
  await store()
  t.strictSame(seen, [{ type: 'image/png', once: '*', body: 'picture' }])
})

t.test('store image: retries transient errors; 412 on a retry means that the first upload succeeded', async (t) => {
  const { seen, store } = await storeThat(t, [503, 412])
  await store()
  t.equal(seen.length, 2)
})

t.test('store image: 412 on the first try is an error, and permanent errors are not retried', async (t) => {
  for (const status of [412, 403]) {
    const { seen, store } = await storeThat(t, [status])
    await t.rejects(store(), { code: 'JOB_FAILED', publicMessage: 'The image could not be stored.' })
    t.equal(seen.length, 1)
  }
})

t.test('store image: uploads even if little time is left', async (t) => {
  const { seen, store } = await storeThat(t, [])
  await store(5000.5)
  t.equal(seen.length, 1)
})

t.test('store image: gives up at its deadline', async (t) => {
  const { store } = await storeThat(t, [503, 503, 503, 503])
  await t.rejects(store(500), { code: 'JOB_FAILED', message: /PUT k: / })
})
