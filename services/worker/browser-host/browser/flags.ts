import type { BrowserKind } from '#shared/capture/pool-of.ts'

/** Each site has a process of its own. Headless-shell does not do so by itself. */
export const siteIsolation = '--site-per-process'

/**
 * What keeps Chromium to its proxy: loopback goes through it too, and WebRTC has no way around it (the widely copied
 * `--force-webrtc-ip-handling-policy` has no effect).
 */
const network = (proxy: string) => [
  `--proxy-server=${proxy}`,
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
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  // Large images are drawn with the rest of their frame, not once they are decoded.
  '--disable-checker-imaging',
  '--allow-pre-commit-input',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--lang=en-US',
  '--mute-audio',
  // A mouse: (hover: hover) and (pointer: fine).
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
]

/**
 * Parts in which a page is drawn. Chromium's own, 256 pixels square, suit screens on which little changes at a time; in a
 * capture nearly all is drawn anew, and fewer parts cost 15 ms less of processor time.
 */
const tiles = ['--default-tile-width=1280', '--default-tile-height=512']

/**
 * Features that hold back a page's first frame, ask servers for hints, try other addresses than the caller's, are their
 * user's, or start a renderer in each context for a page that never comes.
 */
const disabledFeatures = [
  'AutofillServerCommunication',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'RenderDocument',
  'SpareRendererForSitePerProcess',
  'ThirdPartyStoragePartitioning',
  'Translate',
]

/** Nobody listens there. */
const nowhere = 'socks5://127.0.0.1:1'

/**
 * Further flags of each browser. Full Chromium updates its components, looks for its user and more: all of it goes
 * nowhere, since only the contexts of captures have a proxy. The protocol's override of languages reaches workers too late.
 */
const own = (kind: BrowserKind, proxy: string): readonly string[] =>
  kind === 'shell'
    ? [...network(proxy), '--accept-lang=en-US', '--block-new-web-contents']
    : [
        ...network(nowhere),
        '--accept-lang=en-US,en',
        '--disable-blink-features=AutomationControlled',
        '--disable-auto-reload',
        '--screen-info={1920x1080}',
      ]

/** How a browser is started: its sandbox, the proxy that is its only way out, and the folder that it may write to. */
export type BrowserStart = { readonly sandbox: boolean; readonly proxy: string; readonly profile: string }

/** Arguments of a browser that is steered through pipes. */
export const flagsOf = (kind: BrowserKind, { sandbox, proxy, profile }: BrowserStart): string[] => [
  '--headless',
  '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
  // Small in containers; Chromium shares memory by files in its temporary folder instead.
  '--disable-dev-shm-usage',
  ...(sandbox ? [] : ['--no-sandbox']),
  siteIsolation,
  ...own(kind, proxy),
  ...unattended,
  ...steady,
  ...tiles,
  `--disable-features=${disabledFeatures.join(',')}`,
]
