import type { BrowserKind } from '#shared/capture/pool-of.ts'

/** Each site has a separate process. This is not headless-shell's default. */
export const siteIsolation = '--site-per-process'

/**
 * Restricts Chromium to its proxy, for loopback and WebRTC too (the widely copied `--force-webrtc-ip-handling-policy` has no
 * effect).
 */
const network = (proxy: string) => [
  `--proxy-server=${proxy}`,
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
]

/** Disables what a browser does for its user instead of the page, above all its own requests. */
const noBackgroundActivity = [
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

/** Keeps a page from looking or behaving differently than for a viewer, and two pictures of it from differing. */
const reproducibleRendering = [
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  // Draws large images together with the rest of their frame, not later, once they are decoded.
  '--disable-checker-imaging',
  '--allow-pre-commit-input',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--lang=en-US',
  '--mute-audio',
  // What scrolls smoothly, by CSS, script or a hash, is where it leads to at once.
  '--disable-smooth-scrolling',
  // A mouse: (hover: hover) and (pointer: fine).
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
]

/**
 * Raster tile size. Chromium's default, 256 pixels square, suits screens on which little changes at a time; a capture redraws
 * nearly everything, and fewer tiles save 15 ms of processor time.
 */
const tileSize = ['--default-tile-width=1280', '--default-tile-height=512']

/**
 * Features that delay a page's first frame, request hints from servers, try other addresses than the caller's, serve the
 * browser's user, or start a spare renderer in each context, which never gets a second page.
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

/** Nothing listens on this port. */
const unreachableProxy = 'socks5://127.0.0.1:1'

/**
 * Flags of each kind. Full Chromium makes its own requests, such as component updates; they all fail, because only the
 * contexts of captures have a working proxy. Languages are set here, as the protocol's override reaches workers too late.
 */
const flagsByKind = (kind: BrowserKind, proxy: string): readonly string[] =>
  kind === 'shell'
    ? [
        ...network(proxy),
        '--accept-lang=en-US',
        '--block-new-web-contents',
        // Images are held at their first frame by this property, which no stable browser has yet: full Chromium would differ from one.
        '--enable-blink-features=CSSImageAnimation',
      ]
    : [
        ...network(unreachableProxy),
        '--accept-lang=en-US,en',
        '--disable-blink-features=AutomationControlled',
        '--disable-auto-reload',
        '--screen-info={1920x1080}',
      ]

/** Start settings of a browser: sandbox, the proxy for all its connections, and the folder that it may write to. */
export type BrowserStart = { readonly sandbox: boolean; readonly proxy: string; readonly profile: string }

/** Arguments of a browser that is controlled through pipes. */
export const browserFlags = (kind: BrowserKind, { sandbox, proxy, profile }: BrowserStart): string[] => [
  '--headless',
  '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
  // /dev/shm is small in containers; Chromium shares memory through temporary files instead.
  '--disable-dev-shm-usage',
  ...(sandbox ? [] : ['--no-sandbox']),
  siteIsolation,
  ...flagsByKind(kind, proxy),
  ...noBackgroundActivity,
  ...reproducibleRendering,
  ...tileSize,
  `--disable-features=${disabledFeatures.join(',')}`,
]
