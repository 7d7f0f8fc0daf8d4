import t from 'tap'
import { endToEndHeaders } from '#egress/connections/end-to-end-headers.ts'

t.test('end to end headers: drops hop-by-hop headers and those of egress, ignoring upper and lower case', async (t) => {
  const dropped = ['Connection', 'KEEP-ALIVE', 'te', 'Trailer', 'Transfer-Encoding', 'upgrade', 'Proxy-Authorization']
  for (const name of [
    ...dropped,
    'proxy-anything',
    'X-Shutterfleet-Refusal',
    'x-shutterfleet-capture',
    'X-Shutterfleet-Proxy',
  ]) {
    t.same(endToEndHeaders([name, 'x', 'A', '1']), ['A', '1'], name)
  }
})

t.test('end to end headers: drops headers named by Connection, in each of its lines', async (t) => {
  const raw = [
    'Connection',
    'X-One, x-two',
    'x-ONE',
    '1',
    'X-Two',
    '2',
    'connection',
    'X-Three',
    'X-Three',
    '3',
    'X-Four',
    '4',
  ]
  t.same(endToEndHeaders(raw), ['X-Four', '4'])
})

t.test('end to end headers: keeps order, case and repetition of the rest, without the given names', async (t) => {
  const raw = ['Set-Cookie', 'a', 'HOST', 'x', 'set-cookie', 'b']
  t.same(endToEndHeaders(raw, ['host']), ['Set-Cookie', 'a', 'set-cookie', 'b'])
})

t.test('end to end headers: keeps Content-Length even if Connection names it', async (t) => {
  t.same(endToEndHeaders(['Connection', 'Content-Length', 'Content-Length', '5']), ['Content-Length', '5'])
})

t.test('end to end headers: a page cannot set the headers of egress', async (t) => {
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
