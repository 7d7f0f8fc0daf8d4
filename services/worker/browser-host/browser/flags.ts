import type { HostSettings } from '#worker/browser-host/protocol.ts'

/** Each site has a process of its own. Headless-shell does not do so by itself. */
export const siteIsolation = '--site-per-process'

/**
 * What keeps Chromium to its proxy: loopback goes through it too, and WebRTC has no way around it (the widely copied
 * `--force-webrtc-ip-handling-policy` has no effect).
 */
const network = (proxyPort: number) => [
  `--proxy-server=socks5://127.0.0.1:${proxyPort}`,
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
]

/** What a browser does for its user and not for its page: nothing of it is wanted, least of all requests of its own. */
const unattended = [
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-hang-monitor',
  '--disable-prompt-on-repost',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-service-autorun',
  '--no-startup-window',
  '--password-store=basic',
]

/** What would make a page look or behave otherwise than before its viewer, or two pictures of it differ. */
const steady = [
  // Of headless-shell alone; full Chromium opens some after a click, and those are closed.
  '--block-new-web-contents',
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--allow-pre-commit-input',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--lang=en-US',
  '--mute-audio',
  // A mouse: (hover: hover) and (pointer: fine).
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
]

/** Features that hold back a page's first frame, ask servers for hints, or try other addresses than the caller's. */
const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'RenderDocument',
  'ThirdPartyStoragePartitioning',
  'Translate',
]

/** Arguments of a browser whose only way out is the proxy on a port of loopback, steered through pipes. */
export const flagsOf = ({ sandbox }: Pick<HostSettings, 'sandbox'>, proxyPort: number, profile: string): string[] => [
  '--headless',
  '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
  // Small in containers; Chromium shares memory by files in its temporary folder instead.
  '--disable-dev-shm-usage',
  ...(sandbox ? [] : ['--no-sandbox']),
  siteIsolation,
  ...network(proxyPort),
  ...unattended,
  ...steady,
  `--disable-features=${disabledFeatures.join(',')}`,
]
