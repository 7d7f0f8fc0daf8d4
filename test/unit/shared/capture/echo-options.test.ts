import t from 'tap'
import { echoCompleted, echoOptions, echoUrl } from '#shared/capture/echo-options.ts'

// Contract: Which options are echoed
t.test('echo options: a new record shows effective width, height and format, and what was supplied', async (t) => {
  t.same(echoOptions({ url: 'https://a.com/', full_page: true, height: 400 }), {
    width: 1280,
    height: 400,
    format: 'png',
    full_page: true,
  })
})

// Contract: Secrets in `options`
t.test('echo options: masks secrets wherever a record shows them', async (t) => {
  const echoed = echoOptions({
    url: 'https://user:secret1@a.com/',
    headers: { Authorization: 'secret2', 'X-A': 'secret3' },
    cookies: [{ name: 'session', value: 'secret4', domain: 'a.com' }],
    proxy: 'socks5://u:secret5@p.example.com:1080',
    webhook_url: 'https://u:secret6@hooks.example.com/in?token=secret7',
    local_storage: { token: 'secret8' },
    session_storage: { token: 'secret9' },
    actions: [
      { type: 'type', selector: '#password', text: 'secret0' },
      { type: 'press', key: 'Enter' },
    ],
  })
  t.match(echoed, {
    headers: { Authorization: '***', 'X-A': '***' },
    cookies: [{ name: 'session', value: '***', domain: 'a.com' }],
    proxy: 'socks5://u:***@p.example.com:1080',
    webhook_url: 'https://u:***@hooks.example.com/in?***',
    local_storage: { token: '***' },
    session_storage: { token: '***' },
    actions: [
      { type: 'type', selector: '#password', text: '***' },
      { type: 'press', key: 'Enter' },
    ],
  })
  const shown = JSON.stringify([echoed, echoUrl({ url: 'https://user:secret1@a.com/' })])
  t.notMatch(shown, /secret\d/)
  t.equal(echoUrl({ url: 'https://user:secret1@a.com/' }), 'https://user:***@a.com/')
})

t.test('echo options: shows an address without a password as it was written', async (t) => {
  t.equal(echoUrl({ url: 'HTTPS://A.com' }), 'HTTPS://A.com')
})

// Contract: `url` for html/markdown sources
t.test('echo options: shows html and markdown sources by digest, never by text', async (t) => {
  const digest = { bytes: 11, sha256: 'ab' }
  const echoed = echoOptions({ html: '<p>secret</p>' }, digest)
  t.same(echoed, { source: 'html', source_bytes: 11, source_sha256: 'ab', width: 1280, height: 800, format: 'png' })
  t.equal(echoOptions({ markdown: 'secret' }, digest)['source'], 'markdown')
  t.equal(echoUrl({ html: 'x' }), null)
})

// Contract: Which options are echoed
t.test('echo options: a completed record always shows the documented options', async (t) => {
  t.same(echoCompleted({ width: 1280, height: 800, format: 'jpeg', quality: 50 }), {
    quality: 50,
    device: 'desktop',
    block_ads: false,
    block_cookies: true,
    dark_mode: false,
    delay: 0,
    timeout: 30,
    retina: false,
    full_page: false,
    width: 1280,
    height: 800,
    format: 'jpeg',
  })
  t.equal(echoCompleted({ block_cookies: false })['block_cookies'], false, 'what was supplied is shown')
})
