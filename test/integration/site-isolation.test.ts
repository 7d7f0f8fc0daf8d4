import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { browserFlags, siteIsolation } from '#worker/browser-host/browser/flags.ts'
import { launch } from '#worker/browser-host/browser/launch.ts'
import { defaultEmulation } from '#worker/browser-host/page-supply.ts'
import { checkSiteIsolation } from '#worker/browser-host/check-site-isolation.ts'

/** Time within which Chromium would start a spare renderer after a navigation. */
const reserveMs = 500

const proxy = 'socks5://127.0.0.1:1'

/** Starts a browser without network access, and without the argument `without`. */
const startBrowser = (without?: string) =>
  launch(chromiumPath, (profile) =>
    browserFlags('shell', { sandbox: false, proxy, profile }).filter((flag) => flag !== without),
  )

t.test('site isolation: a browser without the flag, which keeps sites in one process, is rejected', async (t) => {
  const browser = await startBrowser(siteIsolation)
  t.teardown(() => browser.kill())
  await t.rejects(checkSiteIsolation(browser, defaultEmulation('shell'), proxy), {
    code: 'SERVICE_UNAVAILABLE',
    message: /does not isolate sites/,
  })
})

t.test('site isolation: a browser with the flag is accepted, and no page is left behind', async (t) => {
  const browser = await startBrowser()
  t.teardown(() => browser.kill())
  await checkSiteIsolation(browser, defaultEmulation('shell'), proxy)
  const { targetInfos } = await browser.session.send('Target.getTargets')
  t.same(
    targetInfos.filter(({ type }) => type !== 'browser'),
    [],
  )
})

t.test("site isolation: a host's browser has the flag", async (t) => {
  await using egress = await startTestEgress('127.0.0.1:1')
  await using host = await startTestHost(egress)
  await eventually(() => processTree(process.pid).some(({ command }) => command.includes(siteIsolation)))
  t.match(await captureWith(host, { html: 'x' }), { outcome: 'completed' })
})

t.test('site isolation: a page of one site has one renderer, without a spare one', async (t) => {
  const renderers = () => processTree(process.pid).filter(({ command }) => command.includes('--type=renderer'))
  let counted = 0
  await using pages = await startPages({
    '/': (_, response) => response.setHeader('content-type', 'text/html').end("<script src='/count' async></script>"),
    '/count': (_, response) =>
      void setTimeout(() => {
        counted = renderers().length
        response.end()
      }, reserveMs),
  })
  await using egress = await startTestEgress(pages.host)
  await using host = await startTestHost(egress)
  t.match(await captureWith(host, { url: pages.url }), { outcome: 'completed' })
  t.equal(counted, 1)
})

t.test('site isolation: a host whose browser does not isolate sites takes no order and exits', async (t) => {
  await using egress = await startTestEgress('127.0.0.1:1')
  const chromium = join(egress.folder, 'chromium')
  const without = `for each; do shift; [ "$each" = ${siteIsolation} ] || set -- "$@" "$each"; done`
  await writeFile(chromium, `#!/bin/sh\n${without}\nexec '${chromiumPath}' "$@"\n`, { mode: 0o755 })
  const starting = startTestHost(egress, { browsers: { prewarmed: 'shell', binaries: { shell: chromium } } })
  await t.rejects(starting, { code: 'SERVICE_UNAVAILABLE', message: /does not isolate sites/ })
})
