import t from 'tap'
import { readBody } from '#shared/config/read-body.ts'

t.test('readBody: reads a body of the largest size, and none', async (t) => {
  t.equal((await readBody(new Response('12345'), 5)).toString(), '12345')
  t.equal((await readBody(new Response(), 5)).length, 0)
})

t.test('readBody: a larger body is refused before it has been read to its end', async (t) => {
  let given = 0
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      given += 4
      controller.enqueue(new Uint8Array(4))
    },
  })
  await t.rejects(readBody(new Response(endless), 10), { message: /is larger than 10 bytes/ })
  t.ok(given <= 20)
})
