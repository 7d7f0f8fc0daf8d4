import t, { type Test } from 'tap'
import { compileLists } from '#worker/block-lists/compile-lists.ts'
import { listKinds } from '#worker/block-lists/compiled.ts'
import { readyLists } from '#worker/block-lists/provide-lists.ts'
import { readLists } from '#worker/block-lists/read-lists.ts'
import { createBlocker, loadEngines } from '#worker/browser-host/blocking/blocker.ts'

const own = await readLists('')
const ours = loadEngines(await compileLists(own, readyLists))
const all = { cookies: true, ads: true, trackers: true, chats: true }
const none = { cookies: false, ads: false, trackers: false, chats: false }
const source = { url: 'https://page.test/', html: undefined, markdown: undefined }
const answered = () => 'https://page.test/'
const blockerOf = (engines = ours, address: () => string = answered, blocks = all) =>
  createBlocker(engines, { blocks, hidesPopups: false, source }, { address, mainFrameId: 'main' })
const withRules = async (test: Test, text: string) =>
  loadEngines(
    await compileLists([...own, { kind: 'ads', name: 'a', version: '1', text, modifiedMs: 0 }], test.testdir({})),
  )

t.test('refusesHost: blocks hosts of the requested kinds and their subdomains, and no others', async (t) => {
  const hosts = {
    cookies: 'cdn.cookielaw.org',
    ads: 'ad.doubleclick.net',
    trackers: 'www.google-analytics.com',
    chats: 'widget.intercom.io',
  }
  for (const kind of listKinds) {
    const only = blockerOf(ours, answered, { ...none, [kind]: true })
    for (const [name, host] of Object.entries(hosts)) t.equal(only.refusesHost(host), name === kind, `${kind} ${host}`)
  }
  t.match(blockerOf(ours, answered, none), { hides: false, refusesRequest: undefined, bases: [] })
  for (const host of ['example.com', 'notdoubleclick.net', 'doubleclick.net.test', '', '127.0.0.1'])
    t.equal(blockerOf().refusesHost(host), false, host)
})

t.test(
  "refusesHost: never blocks the page's own site, neither the target nor the document after redirects",
  async (t) => {
    let at = 'https://page.test/'
    const blocker = blockerOf(ours, () => at)
    t.equal(blocker.refusesHost('cdn.taboola.com'), true)
    t.strictSame([blocker.hasRefused('cdn.taboola.com'), blocker.hasRefused('taboola.com')], [true, false])
    at = 'https://www.taboola.com/'
    t.equal(blocker.refusesHost('cdn.taboola.com'), false)
    const target = { ...source, url: 'https://taboola.com/' }
    const atTarget = createBlocker(
      ours,
      { blocks: all, hidesPopups: false, source: target },
      { address: answered, mainFrameId: 'main' },
    )
    t.equal(atTarget.refusesHost('cdn.taboola.com'), false)
    const html = { ...source, url: undefined, html: '<p>' }
    const ofHtml = createBlocker(
      ours,
      { blocks: all, hidesPopups: false, source: html },
      { address: () => '', mainFrameId: 'main' },
    )
    t.equal(ofHtml.refusesHost('cdn.taboola.com'), true, 'a document without an address')
  },
)

t.test(
  'refusesRequest: applies rules about paths and exceptions; an excepted request keeps its connection',
  async (t) => {
    const rules = [
      '||paths.test/ad/',
      '||hosts.test^',
      '@@||hosts.test/wanted.js',
      '||page.test^',
      '||page.test/own-ad.js',
    ]
    const { refusesRequest, refusesHost } = blockerOf(await withRules(t, rules.join('\n')))
    const refuses = (url: string, resourceType = 'Script', frameId = 'main') =>
      refusesRequest?.({ url, resourceType, frameId })
    t.equal(refuses('https://paths.test/ad/1.js'), true)
    t.equal(refuses('https://paths.test/1.js'), false)
    t.equal(refuses('https://hosts.test/1.js'), true)
    t.equal(refusesHost('hosts.test'), true)
    t.equal(refuses('https://hosts.test/wanted.js'), false)
    t.equal(refusesHost('hosts.test'), false, 'an exception is allowed')
    t.equal(refuses('https://page.test/app.js'), false, "the page's own host")
    t.equal(refuses('https://page.test/own-ad.js'), true, "an operator's rule about a path of it")
    t.equal(refuses('https://hosts.test/', 'Document'), false, 'the document of the main frame')
    t.equal(refuses('https://hosts.test/', 'Document', 'frame'), true, 'that of another frame')
    t.equal(refuses(`https://paths.test/${'a'.repeat(1e6)}/ad/`), false, 'addresses of any length')
    for (const url of ['data:text/plain,||hosts.test', 'blob:x', 'no address']) t.equal(refuses(url), false, url)
  },
)

t.test('hidingFor: returns rules by id, class and site, without those excepted by a list', async (t) => {
  const rules = [
    '##.one',
    'page.test##.two',
    'other.test##.three',
    '##.four',
    'page.test#@#.four',
    '##.five:style(color: red !important)',
  ]
  const { hidingFor } = blockerOf(await withRules(t, [...rules, '##.ad:has-text(x)', '##+js(noop)'].join('\n')))
  const tokens = { ids: ['sd-cmp'], classes: ['one', 'four', 'five', 'ad'], hrefs: [], bases: [] }
  const { consent, others } = hidingFor(source.url, tokens)
  t.strictSame(consent, [{ selector: '#sd-cmp', style: undefined }])
  t.strictSame(
    others.toSorted((a, b) => a.selector.localeCompare(b.selector)),
    [
      { selector: '.five', style: 'color: red !important' },
      { selector: '.one', style: undefined },
      { selector: '.two', style: undefined },
    ],
  )
  t.strictSame(hidingFor('about:blank', { ...tokens, ids: [] }).consent, [])
})
