import t from 'tap'
import { createIdentity } from '#worker/browser-host/capture/page/identity.ts'

const desktop = (system: string, chrome: string) =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${chrome} Safari/537.36`

t.test('identity: the user agent has no "Headless", and the hints have the brands of its version', async (t) => {
  const version = '156.0.8078.79'
  const metadata = {
    brands: [
      { brand: 'Not:A-Brand', version: '8' },
      { brand: 'Chromium', version: '156' },
    ],
    fullVersionList: [
      { brand: 'Not:A-Brand', version: '8.0.0.0' },
      { brand: 'Chromium', version },
    ],
    fullVersion: version,
    platform: 'Linux',
    platformVersion: '',
    architecture: 'x86',
    bitness: '64',
    model: '',
    mobile: false,
  }
  t.strictSame(createIdentity(version, { userAgent: undefined, locale: 'en-US' }), {
    userAgent: desktop('X11; Linux x86_64', '156.0.0.0'),
    platform: 'Linux x86_64',
    userAgentMetadata: metadata,
  })
  const odd = createIdentity('121.0.1.2', { userAgent: undefined, locale: 'en-US' }).userAgentMetadata
  t.strictSame(odd?.brands, [
    { brand: 'Chromium', version: '121' },
    { brand: 'Not A(Brand', version: '99' },
  ])
})

t.test('identity: hints follow a given user agent; there are none if its browser sends none', async (t) => {
  const rows: [userAgent: string, platform: string, hints: object | undefined][] = [
    [
      desktop('Windows NT 10.0; Win64; x64', '131.0.0.0'),
      'Win32',
      { platform: 'Windows', platformVersion: '10.0', fullVersion: '131.0.0.0', mobile: false },
    ],
    [
      desktop('Macintosh; Intel Mac OS X 10_15_7', '156.0.0.0'),
      'MacIntel',
      { platform: 'macOS', platformVersion: '10.15.7', fullVersion: '156.0.8078.79' },
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Linux armv81',
      { platform: 'Android', platformVersion: '10', architecture: '', mobile: true },
    ],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/18.6 Safari/604.1', 'iPhone', undefined],
    ['Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) CriOS/140.0 Safari/604.1', 'iPad', undefined],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 14.7; rv:143.0) Gecko/20100101 Firefox/143.0', 'MacIntel', undefined],
    [desktop('X11; Linux x86_64', '1').replace('Chrome', 'HeadlessChrome'), 'Linux x86_64', undefined],
    ['Me/1.0', 'Linux x86_64', undefined],
  ]
  for (const [userAgent, platform, hints] of rows) {
    const identity = createIdentity('156.0.8078.79', { userAgent, locale: 'en-US' })
    t.match(identity, { userAgent, platform }, userAgent)
    if (hints) t.match(identity.userAgentMetadata, hints, userAgent)
    else t.equal(identity.userAgentMetadata, undefined, userAgent)
  }
})
