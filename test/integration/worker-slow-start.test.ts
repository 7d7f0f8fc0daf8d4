import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { openMs } from '#shared/capture/budget.ts'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { startTestEgress, startTestHost } from '#test/helpers/browser-host.ts'
import { createCanary, warmUp } from '#worker/host/warm-up.ts'

t.setTimeout(120_000)

const { server, connections } = createCanary(() => {})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const canary = { port: (server.address() as AddressInfo).port, connections }
const egress = await startTestEgress('127.0.0.1:1')
t.teardown(async () => {
  server.close()
  await egress[Symbol.asyncDispose]()
})

/** A Chromium that takes `seconds` longer to start, as on a busy machine. */
const slowChromium = async (folder: string, seconds: number) => {
  const path = join(folder, 'chromium')
  await writeFile(path, `#!/bin/sh\nsleep ${seconds}\nexec ${chromiumPath} "$@"\n`)
  await chmod(path, 0o755)
  return path
}

t.test(
  'slow start: a browser that opens its first page later than the page budget of a capture allows still warms up',
  async (t) => {
    const shell = await slowChromium(t.testdir({}), openMs / 1000 + 0.5)
    await using host = await startTestHost(egress, { browsers: { prewarmed: 'shell', binaries: { shell } } })
    await warmUp(host, canary, { browser: 'shell', startMs: 30_000 })
  },
)

t.test(
  'slow start: a browser that does not start within the bound ends its host, and the error names the bound',
  async (t) => {
    const shell = await slowChromium(t.testdir({}), 60)
    const starting = startTestHost(egress, { browsers: { prewarmed: 'shell', binaries: { shell } } }, { startMs: 1000 })
    await t.rejects(starting, { code: 'SERVICE_UNAVAILABLE', message: 'browser host: failed to start within 1 s' })
  },
)
