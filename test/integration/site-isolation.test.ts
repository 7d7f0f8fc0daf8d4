import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chromiumPath, startBareBrowser } from '#test/helpers/bare-browser.ts'
import { captureWith, startTestHost, startWayOut } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { processTree } from '#test/helpers/process-tree.ts'
import { checkSiteIsolation } from '#worker/browser-host/check-site-isolation.ts'
import { siteIsolation } from '#worker/browser-host/launch-browser.ts'

t.test(
  'checkSiteIsolation: refuses a browser that keeps sites in one process, as headless-shell does by itself',
  async (t) => {
    const browser = await startBareBrowser()
    t.teardown(() => browser.close())
    await t.rejects(checkSiteIsolation(browser), { code: 'SERVICE_UNAVAILABLE', message: /does not isolate sites/ })
  },
)

t.test('checkSiteIsolation: accepts a browser with the flag, and leaves no page behind', async (t) => {
  const browser = await startBareBrowser([siteIsolation])
  t.teardown(() => browser.close())
  await checkSiteIsolation(browser)
  t.equal(browser.contexts().length, 0)
})

t.test("a host's browser isolates sites", async (t) => {
  await using wayOut = await startWayOut('127.0.0.1:1')
  await using host = await startTestHost(wayOut)
  await eventually(() => processTree(process.pid).some(({ command }) => command.includes(siteIsolation)))
  t.match(await captureWith(host, { html: 'x' }), { outcome: 'completed' })
})

t.test('a host whose browser does not isolate sites serves nothing', async (t) => {
  await using wayOut = await startWayOut('127.0.0.1:1')
  const chromium = join(wayOut.folder, 'chromium')
  const without = `for each; do shift; [ "$each" = ${siteIsolation} ] || set -- "$@" "$each"; done`
  await writeFile(chromium, `#!/bin/sh\n${without}\nexec '${chromiumPath}' "$@"\n`, { mode: 0o755 })
  await using host = await startTestHost(wayOut, { browsers: { kept: 'shell', binaries: { shell: chromium } } })
  t.match(await captureWith(host, { html: 'x' }), {
    outcome: 'interrupted',
    by: 'browser',
    detail: /does not isolate sites/,
  })
  await eventually(() => host.gone.aborted)
})
