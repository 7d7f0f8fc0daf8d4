import t from 'tap'
import { startRequestSpan } from '#gateway/http/request-span.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const traceOf = (authorization?: string) =>
  startRequestSpan('create', { method: 'POST', headers: { traceparent, ...(authorization && { authorization }) } })
    .traceparent

t.test("request span: continues the caller's trace only if the request has a well-formed key", async (t) => {
  t.match(traceOf(`Bearer sk_live_${'a'.repeat(40)}`), /^00-0af7651916cd43dd8448eb211c80319c-/)
  t.equal(traceOf(), undefined)
  t.equal(traceOf('Bearer guess'), undefined)
})
