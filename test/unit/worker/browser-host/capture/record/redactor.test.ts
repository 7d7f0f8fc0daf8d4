import t from 'tap'
import { planCapture } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { withDefaults } from '#shared/capture/options.ts'
import { createRedactor } from '#worker/browser-host/capture/record/redactor.ts'

const redactorOf = (parameters: Parameters<typeof withDefaults>[0]) =>
  createRedactor(planCapture(withDefaults(parameters)))
const plain = redactorOf({ url: 'https://example.com/' })

t.test(
  'redactor: an address keeps its path and the names of its query, not credentials, values and fragment',
  async (t) => {
    const cases = {
      'https://example.com/a/b': 'https://example.com/a/b',
      'https://user:pass@example.com/?a=1&b=&c#access_token=x': 'https://***:***@example.com/?a=***&b=***&***',
      'https://token@example.com/': 'https://***@example.com/',
      'https://example.com/?token': 'https://example.com/?***',
      'wss://example.com/live?k=v': 'wss://example.com/live?k=***',
      'data:image/png;base64,secret': 'data:image/png;base64,',
      'blob:https://example.com/1b2c': 'blob:https://example.com/1b2c',
      'about:blank': 'about:blank',
      '/relative?key=secret': '/relative?key=***',
    }
    for (const [address, expected] of Object.entries(cases)) t.equal(plain.address(address), expected)
    const long = plain.address(`https://example.com/${'%C3%BC'.repeat(5000)}?a=secret`)
    t.ok(long.length <= 2048 && URL.canParse(long) && !/%[\dA-F]?$/.test(long))
  },
)

t.test('redactor: addresses in a text are masked, and parameters of what is part of one', async (t) => {
  const text = (from: string) => plain.text(from, 200)
  t.equal(
    text("GET https://u:p@example.com/a?k=v&l=w#f 404, see 'ws://h/?t=x' (3 > 2?)"),
    "GET https://***:***@example.com/a?k=***&l=*** 404, see 'ws://h/?t=***' (3 > 2?)",
  )
  t.equal(text('/api?code=secret&state=secret failed'), '/api?code=***&state=*** failed')
  t.equal(text('#access_token=secret'), '#access_token=***')
  t.equal(text('a'.repeat(300)), `${'a'.repeat(200)}…`)
})

t.test('redactor: what the caller sends is masked wherever it stands, short words are not', async (t) => {
  const { text, address, headerNames } = redactorOf({
    url: 'https://name:pass1234@example.com/?session=abcdefgh&page=2',
    headers: { Authorization: 'Bearer tok.en-1', Cookie: 'sid=cookie+1; theme=dark', 'X-Mode': 'on' },
    cookies: [{ name: 'c', value: 'jar value' }],
    local_storage: { k: 'stored-value', flag: 'true' },
  })
  for (const secret of ['tok.en-1', 'cookie+1', 'jar value', 'jar%20value', 'stored-value', 'pass1234', 'abcdefgh'])
    t.equal(text(`got ${secret}.`, 100), 'got ***.', secret)
  t.equal(text('page 2 is on, true', 100), 'page 2 is on, true')
  t.equal(address('https://example.com/tok.en-1/x'), 'https://example.com/***/x')
  t.ok(headerNames.has('authorization') && headerNames.has('x-mode'))
})
