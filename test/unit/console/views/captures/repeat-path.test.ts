import t from 'tap'
import { repeatPath } from '#console/views/captures/repeat-path.ts'

const page = 'https://example.com/'

t.test('repeat path: has the parameters of a capture, and names those of which the record has only a mask', (t) => {
  t.equal(
    repeatPath({ url: page, options: { width: 800, full_page: true } }),
    '/playground?url=https%3A%2F%2Fexample.com%2F&width=800&full_page=true',
  )
  const secret = {
    cookies: [{ name: 'session', value: '***' }],
    actions: [{ type: 'type', selector: '#password', text: '***' }],
    webhook_url: 'https://example.com/?***',
  }
  t.equal(
    repeatPath({ url: 'https://ada:***@example.com/', options: { width: 800, ...secret } }),
    '/playground?url=https%3A%2F%2Fexample.com%2F&width=800&left_out=url%2Ccookies%2Cactions%2Cwebhook_url',
  )
  t.equal(repeatPath({ url: null, options: { source: 'html', width: 800 } }), '/playground?width=800&left_out=html')
  t.end()
})
