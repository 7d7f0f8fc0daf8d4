import t from 'tap'
import { endToEndHeaders } from '#worker/browser-host/ask-egress.ts'

t.test('drops what concerns one connection or the proxy, keeps order, case and repetition', async (t) => {
  const raw = ['Host', 'a', 'Proxy-Connection', 'keep-alive', 'X-A', '1', 'Connection', 'close', 'x-a', '2']
  t.strictSame(endToEndHeaders(raw), ['Host', 'a', 'X-A', '1', 'x-a', '2'])
})

t.test('a page cannot speak to the egress filter in our name', async (t) => {
  const raw = [
    'X-Shutterfleet-Proxy',
    'http://evil.test:3128',
    'x-shutterfleet-capture',
    'another',
    'X-Shutter',
    'kept',
  ]
  t.strictSame(endToEndHeaders(raw), ['X-Shutter', 'kept'])
})
