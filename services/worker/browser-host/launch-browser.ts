import { type Browser, chromium } from 'playwright'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import type { HostSettings } from './protocol.ts'

const launchMs = 20_000

/** Defaults of Playwright that serve tests of one's own pages and would help a hostile one. */
const unwanted = ['--disable-popup-blocking', '--disable-ipc-flooding-protection']

/**
 * What keeps Chromium to its proxy, beyond Playwright's own arguments: loopback goes through it too, and WebRTC has no
 * way around it (the widely copied `--force-webrtc-ip-handling-policy` has no effect).
 */
const networkArguments = (proxy: string) => [
  `--proxy-server=${proxy}`,
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
]

/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:1'

/**
 * What full Chromium does of itself that would change a page, or be sent by its context: Playwright's list, of which the last one
 * given counts, and questions of what a form's fields mean.
 */
const unwantedFeatures = [
  'AutofillServerCommunication',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
]

/**
 * What each browser is told beyond that. Full Chromium updates its components, looks for its user and more: all of it goes
 * nowhere, since only the contexts of captures have a proxy. The protocol's override of languages reaches workers too late.
 */
const argumentsOf = (kind: BrowserKind, proxy: string): readonly string[] =>
  kind === 'shell'
    ? [...networkArguments(proxy), '--accept-lang=en-US']
    : [
        ...networkArguments(nowhere),
        '--accept-lang=en-US,en',
        '--disable-blink-features=AutomationControlled',
        '--disable-auto-reload',
        '--screen-info={1920x1080}',
        `--disable-features=${unwantedFeatures.join(',')}`,
      ]

/** Each site has a process of its own. Headless-shell does not do so by itself. */
export const siteIsolation = '--site-per-process'

/** Starts a browser of a kind that there is, steered through a pipe. Throws what Playwright throws, after at most twenty seconds. */
export const launchBrowser = (settings: HostSettings, kind: BrowserKind, proxy: string): Promise<Browser> => {
  const executablePath = settings.browsers.binaries[kind]
  if (executablePath === undefined) throw new Error(`no browser: ${kind}`)
  return chromium.launch({
    executablePath,
    chromiumSandbox: settings.sandbox,
    ignoreDefaultArgs: unwanted,
    args: [siteIsolation, ...argumentsOf(kind, proxy)],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: launchMs,
  })
}
