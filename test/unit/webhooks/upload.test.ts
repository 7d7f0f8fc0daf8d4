import { createHash } from 'node:crypto'
import { Agent, createServer, type IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { upload } from '#webhooks/upload.ts'

t.test(
  'upload: an object is sent with its checksum, which is signed, as buckets with Object Lock require',
  async (t) => {
    const received: { method: string | undefined; headers: IncomingHttpHeaders; body: string }[] = []
    await using bucket = await listening(
      createServer(async (request, response) => {
        const body = (await request.toArray()).join('')
        received.push({ method: request.method, headers: request.headers, body })
        response.end()
      }),
    )
    using agent = Object.assign(new Agent(), { [Symbol.dispose]: () => agent.destroy() })
    const outcome = await upload(
      { agent, answerMs: 30_000, objects: { get: () => Promise.resolve(undefined) } },
      {
        ...{ accountId: 'a', bucketUrl: `https://127.0.0.1:${bucket.port}/images`, key: 'a.txt' },
        ...{
          image: 'test',
          at: new Date(),
          credentials: { accessKeyId: 'id', secret: 'secret', region: 'eu-central-1' },
        },
      },
    )
    t.same(outcome, { status: 200, failure: null })
    const [put, removal] = received
    t.match([put?.method, removal?.method], ['PUT', 'DELETE'])
    const digest = createHash('sha256').update(String(put?.body)).digest('base64')
    t.equal(put?.headers['x-amz-checksum-sha256'], digest)
    t.match(put?.headers.authorization, /SignedHeaders=[^,]*;x-amz-checksum-sha256;/)
    t.notOk(removal?.headers['x-amz-checksum-sha256'])
  },
)
