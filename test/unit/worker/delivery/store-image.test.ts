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

t.test('store image: puts the bytes once, with their type', async (t) => {
  const { seen, store } = await storeThat(t, [])
  await store()
  t.strictSame(seen, [{ type: 'image/png', once: '*', body: 'picture' }])
})

t.test('store image: repeats what may pass; an object that is there after that is our own', async (t) => {
  const { seen, store } = await storeThat(t, [503, 412])
  await store()
  t.equal(seen.length, 2)
})

t.test("does not take another's object for its own, nor repeat what will not pass", async (t) => {
  for (const status of [412, 403]) {
    const { seen, store } = await storeThat(t, [status])
    await t.rejects(store(), { code: 'JOB_FAILED', publicMessage: 'The image could not be stored.' })
    t.equal(seen.length, 1)
  }
})

t.test('store image: stores in the little time that is left', async (t) => {
  const { seen, store } = await storeThat(t, [])
  await store(5000.5)
  t.equal(seen.length, 1)
})

t.test('store image: gives up at its time', async (t) => {
  const { store } = await storeThat(t, [503, 503, 503, 503])
  await t.rejects(store(500), { code: 'JOB_FAILED', message: /PUT k: / })
})
