import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { startManyHosts } from '#test/helpers/many-hosts.ts'
import { blue, pixel, red, redPage } from '#test/helpers/shots.ts'
import { provideLists } from '#worker/block-lists/provide-lists.ts'

const page = 'site.test'
const adHosts = ['securepubads.g.doubleclick.net', 'ib.adnxs.com', 'static.criteo.net', 'cdn.taboola.com']
const ownAds = 'taboola.com'
const { requests, shoot, urlOf, port } = await startManyHosts(
  t,
  [page, 'cdn.test', 'ads.site.test', 'departs.test', ownAds, 'www.taboola.com', ...adHosts],
  {
    routes: {
      '/ads': (_request, response) => {
        const scripts = [...adHosts, 'cdn.test', 'ads.site.test'].map(
          (host) => `<script src="http://${host}:${port}/tag.js"></script>`,
        )
        response.end(redPage(scripts.join('')))
      },
      '/own': (_request, response) =>
        response.end(redPage(`<script src="http://cdn.${ownAds}:${port}/tag.js"></script>`)),
      '/departs': (_request, response) => response.writeHead(302, { location: `http://${ownAds}:${port}/own` }).end(),
      '/leaves': (_request, response) =>
        response.end(redPage(`<script>location = 'http://${ownAds}:${port}/own'</script>`)),
    },
  },
)

const requestsDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
  requests.length = 0
  await work()
  return requests.filter((each) => !each.endsWith('/favicon.ico'))
}

t.test('worker blocking: block_ads prevents requests to ad hosts only', async (t) => {
  const url = urlOf(page, '/ads')
  const blocked = await requestsDuring(() => shoot({ url, block_ads: true }))
  t.strictSame(blocked.toSorted(), ['ads.site.test/tag.js', 'cdn.test/tag.js', 'site.test/ads'])
  const open = await requestsDuring(() => shoot({ url }))
  for (const host of adHosts) t.ok(open.includes(`${host}/tag.js`), host)
})

t.test(
  'worker blocking: the site of the page is never blocked: as target, after a redirect, after a navigation',
  async (t) => {
    const scripts = [`cdn.${ownAds}/tag.js`]
    t.match(await requestsDuring(() => shoot({ url: urlOf(ownAds, '/own'), block_ads: true })), [
      `${ownAds}/own`,
      ...scripts,
    ])
    for (const path of ['/departs', '/leaves']) {
      const sent = await requestsDuring(() => shoot({ url: urlOf('departs.test', path), block_ads: true, delay: 1 }))
      t.match(sent, [`departs.test${path}`, `${ownAds}/own`, ...scripts], path)
    }
  },
)

t.test('worker blocking: block_ads hides ad slots, in frames and shadow roots too', async (t) => {
  const slot = '<ins class="adsbygoogle" style="display:block;width:300px;height:300px;background:rgb(0,0,255)"></ins>'
  const shadow = `<div id="host"></div><script>host.attachShadow({ mode: 'open' }).innerHTML = ${JSON.stringify(slot)}</script>`
  const frame = `<iframe style="border:0;width:400px;height:400px" srcdoc="${slot.replaceAll('"', '&quot;')}"></iframe>`
  for (const [name, html] of Object.entries({ slot, shadow, frame })) {
    t.strictSame(await pixel(await shoot({ html: redPage(html) }), 100, 100), blue, name)
    const hidden = await pixel(await shoot({ html: redPage(html), block_ads: true }), 100, 100)
    t.notSame(hidden, blue, name)
  }
})

const operators = t.testdir({
  ads: {
    'paths.txt': [
      '! Version: 1',
      '/banner/',
      '||tracker.test^',
      '@@||tracker.test^*/wanted.js',
      '||frames.test^$subdocument',
      'site.test##.own-slot',
      'site.test#@#.ad-banner',
    ].join('\n'),
  },
})
const lists = await provideLists(operators, { outputFolder: join(operators, 'compiled') })
const received: IncomingHttpHeaders[] = []
const withLists = await startManyHosts(t, [page, 'tracker.test', 'frames.test', 'cdn.test'], {
  settings: { blockLists: lists.folder },
  routes: {
    '/page': ({ headers }, response) => {
      received.push(headers)
      const at = headers.host?.split(':')[1]
      const script = (source: string) => `<script src="${source}"></script>`
      response.end(
        redPage(
          [
            script('/banner/own.js'),
            script('/app.js'),
            script(`http://tracker.test:${at}/wanted.js`),
            script(`http://tracker.test:${at}/other.js`),
            script(`http://frames.test:${at}/code.js`),
            `<iframe src="http://frames.test:${at}/frame"></iframe>`,
            `<script>new Worker(URL.createObjectURL(new Blob(["fetch('http://cdn.test:${at}/banner/worker')"])))</script>`,
          ].join(''),
        ),
      )
    },
    '/slots': (_request, response) =>
      response.end(
        redPage(
          ['own-slot', 'ad-banner']
            .map((name) => `<div class="${name}" style="height:100px;background:blue"></div>`)
            .join(''),
        ),
      ),
  },
})

t.test("worker blocking: an operator's rules for paths, types and exceptions apply, also with headers", async (t) => {
  const allowed = ['frames.test/code.js', 'site.test/app.js', 'site.test/page', 'tracker.test/wanted.js']
  for (const headers of [{}, { 'x-own': '1' }]) {
    withLists.requests.length = 0
    received.length = 0
    await withLists.shoot({ url: withLists.urlOf(page, '/page'), block_ads: true, headers, delay: 1 })
    const loaded = withLists.requests.filter((each) => !each.endsWith('/favicon.ico'))
    t.strictSame(loaded.toSorted(), allowed, JSON.stringify(headers))
    t.equal(received[0]?.['x-own'], (headers as Record<string, string>)['x-own'])
  }
  withLists.requests.length = 0
  await withLists.shoot({ url: withLists.urlOf(page, '/page'), delay: 1 })
  for (const each of ['site.test/banner/own.js', 'frames.test/frame', 'cdn.test/banner/worker'])
    t.ok(withLists.requests.includes(each), `${each} without`)
})

t.test("worker blocking: an operator's element rules hide elements except their exceptions", async (t) => {
  const shot = await withLists.shoot({ url: withLists.urlOf(page, '/slots'), block_ads: true })
  t.strictSame(await pixel(shot, 50, 50), blue, 'excepted here')
  t.strictSame(await pixel(shot, 50, 150), red, 'hidden here')
})
