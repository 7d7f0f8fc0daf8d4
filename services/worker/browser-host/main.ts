import { once } from 'node:events'
import { statSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { loadEngines } from './blocking/blocker.ts'
import { readConsentScript } from './blocking/consent-script.ts'
import { browserFlags } from './browser/flags.ts'
import { launch } from './browser/launch.ts'
import { checkSiteIsolation } from './check-site-isolation.ts'
import { createPageSupply, defaultEmulation } from './page-supply.ts'
import type { HostSettings } from '#worker/protocol/protocol.ts'
import { serveOrder } from './serve-order.ts'
import { openSupervisorPipe } from './supervisor-pipe.ts'
import { createConnectionReviewer } from './capture/load/traffic.ts'

/** File mode bit. */
const readableByOthers = 0o004

const settings = JSON.parse(process.argv[2] ?? '') as HostSettings
const markdown = join(import.meta.dirname, 'capture/load/markdown/page.ts')
const canLoadLater = settings.hasOwnFiles && (statSync(markdown).mode & readableByOthers) !== 0
// The module takes 58 MiB and 285 ms, so a host that can still read it later loads it for its first Markdown capture.
if (!canLoadLater) await import('./capture/load/markdown/page.ts')
const blocking = { engines: loadEngines(settings.blockLists), consentScript: readConsentScript() }
// All other modules are loaded: from here on the checkout may be unreadable. Root is dropped permanently.
if (settings.user) {
  const { userId, groupId } = settings.user
  process.setgroups?.([groupId])
  process.setgid?.(groupId)
  process.setuid?.(userId)
}
// Chromium ignores a certificate store that it cannot write to.
if (settings.trust) await cp(settings.trust, join(homedir(), '.pki', 'nssdb'), { recursive: true })

// Browsers inherit it.
process.env['FONTCONFIG_FILE'] = settings.fonts

const reviewer = createConnectionReviewer()
const server = createServer((client) => client.destroy()).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const proxy = `socks5://127.0.0.1:${port}`
const checked = new Set<BrowserKind>(settings.checked)
/** Checks only the first browser of a kind, since all start alike; the check also warms the host up. */
const launchChecked = async (kind: BrowserKind) => {
  const program = settings.browsers.binaries[kind]
  if (program === undefined) throw new Error(`no browser: ${kind}`)
  const browser = await launch(program, (profile) => browserFlags(kind, { ...settings, proxy, profile }))
  if (!checked.has(kind)) await checkSiteIsolation(browser, defaultEmulation(kind), proxy)
  checked.add(kind)
  return browser
}

const pages = createPageSupply(launchChecked, { ...settings, prewarmed: settings.browsers.prewarmed, proxy })
const report = openSupervisorPipe((message) => {
  if (message.kind === 'order')
    return void serveOrder({ pages, reviewer, settings, ...blocking, report }, message.order)
  if (message.kind === 'byte-limit-exceeded') reviewer.recordByteLimit(message.bytesMax)
  const isAllowed = message.kind === 'connection' && reviewer.review(message)
  return void report({ kind: 'verdict', number: message.number, isAllowed })
})
// The start of the browser is part of the host's own: its bound grows, that of an order does not.
await pages.first
// Only the supervisor accepts connections from here on. It closes Node's IPC channel, the only one that passes sockets.
process.send?.('up', server, () => server.close())
