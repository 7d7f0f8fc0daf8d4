import t from 'tap'
import { judgeLink, readLink, signLink } from '#gateway/links/link.ts'

const id = '22222222-2222-4222-8222-222222222222'
const [first, second] = [
  { id: 'new', secret: Buffer.alloc(32, 1) },
  { id: 'old', secret: Buffer.alloc(32, 2) },
]
const now = new Date('2026-06-01T12:00:00Z')
const soon = now.getTime() / 1000 + 60
const judge = (query: string, { keys = [first, second], of = id, at = now } = {}) => {
  const link = readLink(query)
  return link && judgeLink(keys, of, link, at)
}

// Contract: Signed URL form
t.test('a link has the form that the interface gives it, and holds until its time', async (t) => {
  const query = signLink(first, id, soon)
  t.match(query, new RegExp(`^expires=${soon}&kid=new&signature=[0-9a-f]{64}$`))
  t.equal(judge(query), 'good')
  t.equal(judge(query, { at: new Date(soon * 1000 - 1) }), 'good')
  t.equal(judge(query, { at: new Date(soon * 1000) }), 'expired')
})

// Contract: Signed URL form
t.test('a permanent link has no time and holds for ever', async (t) => {
  const query = signLink(first, id, undefined)
  t.match(query, /^kid=new&signature=[0-9a-f]{64}$/)
  t.equal(judge(query, { at: new Date('9999-01-01') }), 'good')
})

// Contract: Signed URL form
t.test('every key of the list is taken, and a link dies with its key', async (t) => {
  const query = signLink(second, id, soon)
  t.equal(judge(query), 'good')
  t.equal(judge(query, { keys: [first] }), 'forged')
})

// Contract: Signed URL form
t.test('nothing of a link can be exchanged', async (t) => {
  const query = signLink(first, id, soon)
  const permanent = signLink(first, id, undefined)
  const forged = {
    'another capture': judge(query, { of: id.replace('2', '3') }),
    'a later time': judge(query.replace(String(soon), String(soon + 1))),
    'no time': judge(query.replace(/expires=\d+&/, '')),
    'a time for a permanent one': judge(`expires=${soon}&${permanent}`),
    'an empty time': judge(`expires=&${permanent}`),
    'another key': judge(query.replace('kid=new', 'kid=old')),
    'no key': judge(query.replace('kid=new&', '')),
    'another spelling of the time': judge(query.replace(String(soon), `0${soon}`)),
    'a signature in capitals': judge(
      query.replace(/signature=(.*)/, (_, hex: string) => `signature=${hex.toUpperCase()}`),
    ),
    'a short signature': judge(query.slice(0, -1)),
    'no signature': judge(query.replace(/signature=.*/, 'signature=')),
    'two signatures': judge(`${query}&signature=${'0'.repeat(64)}`),
    'two times': judge(`${query}&expires=${soon + 1}`),
    'another spelling of a name': judge(query.replace('signature', 'sign%61ture')),
    'a second name in another spelling': judge(`${query}&%6bid=new`),
    'a time with an encoded digit': judge(query.replace(/expires=(.)/, (_, digit: string) => `expires=%3${digit}`)),
    'a key with an encoded letter': judge(query.replace('kid=new', 'kid=%6eew')),
    'a question mark before it': judge(`?${query}`),
    'one digit': judge(query.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))),
  }
  for (const [name, verdict] of Object.entries(forged)) t.equal(verdict, 'forged', name)
})

t.test('a query without a signature is no link; what else stands in it does not matter', async (t) => {
  t.equal(readLink(`expires=${soon}&kid=new`), undefined)
  t.equal(judge(`v=1&${signLink(first, id, soon)}&utm_source=x`), 'good')
})
