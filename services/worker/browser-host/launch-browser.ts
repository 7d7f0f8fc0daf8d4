import { type Browser, chromium } from 'playwright'
import type { HostSettings } from './protocol.ts'

const launchMs = 20_000

/**
 * What Chromium must not do around its proxy, beyond Playwright's own arguments. Loopback goes through the proxy too, and
 * WebRTC has no way around it; the widely copied `--force-webrtc-ip-handling-policy` has no effect.
 */
const networkArguments = (proxyPort: number) => [
  `--proxy-server=http://127.0.0.1:${proxyPort}`,
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

/** Starts Chromium, steered through a pipe. Throws what Playwright throws, after at most twenty seconds. */
export const launchBrowser = (settings: HostSettings, proxyPort: number): Promise<Browser> =>
  chromium.launch({
    executablePath: settings.chromium,
    chromiumSandbox: settings.sandbox,
    args: networkArguments(proxyPort),
    env: { HOME: settings.folder, TMPDIR: settings.folder, LANG: 'en_US.UTF-8' },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: launchMs,
  })
