import t from 'tap'
import { endToEndHeaders } from '#worker/browser-host/ask-egress.ts'

t.test('drops what concerns one connection or the proxy, keeps order, case and repetition', async (t) => {
  const raw = ['Host', 'a', 'Proxy-Connection', 'keep-alive', 'X-A', '1', 'Connection', 'close', 'x-a', '2']
  t.strictSame(endToEndHeaders(raw), ['Host', 'a', 'X-A', '1', 'x-a', '2'])
})
