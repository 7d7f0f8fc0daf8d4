import { type Browser, chromium } from 'playwright'
import type { HostSettings } from './protocol.ts'

const launchMs = 20_000

/** Defaults of Playwright that serve tests of one's own pages and would help a hostile one. */
const unwanted = ['--disable-popup-blocking', '--disable-ipc-flooding-protection']

/**
 * What keeps Chromium to its proxy, beyond Playwright's own arguments: loopback goes through it too, and WebRTC has no
 * way around it (the widely copied `--force-webrtc-ip-handling-policy` has no effect).
 */
const networkArguments = (proxyPort: number) => [
  `--proxy-server=http://127.0.0.1:${proxyPort}`,
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
]

/** The protocol's override reaches workers too late. */
const language = '--accept-lang=en-US'

/** Each site has a process of its own. Headless-shell does not do so by itself. */
export const siteIsolation = '--site-per-process'

/** Starts Chromium, steered through a pipe. Throws what Playwright throws, after at most twenty seconds. */
export const launchBrowser = (settings: HostSettings, proxyPort: number): Promise<Browser> =>
  chromium.launch({
    executablePath: settings.chromium,
    chromiumSandbox: settings.sandbox,
    ignoreDefaultArgs: unwanted,
    args: [siteIsolation, language, ...networkArguments(proxyPort)],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: launchMs,
  })
