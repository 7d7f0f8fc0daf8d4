import t from 'tap'
import { createApp } from '#gateway/app.ts'
import { completedCapture, createTestContext, testKey } from '#test/helpers/gateway-context.ts'

t.test('wait: is a whole number of seconds from 0 to 60', async (t) => {
  const app = createApp(createTestContext())
  t.teardown(() => app.close())
  const show = (query: string) =>
    app.inject({
      url: `/v1/screenshots/${completedCapture.id}${query}`,
      headers: { authorization: `Bearer ${testKey}` },
    })
  for (const query of ['', '?wait=0', '?wait=1', '?wait=60']) t.equal((await show(query)).statusCode, 200, query)
  for (const wait of ['', '61', '-1', '1.5', '1s', '%201', '1e1', '0x1', '9999999999']) {
    const answer = await show(`?wait=${wait}`)
    t.match([answer.statusCode, answer.json()], [422, { error: { details: { wait: [/from 0 to 60/] } } }], wait)
  }
})
