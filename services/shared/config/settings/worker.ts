import { pools } from '#shared/capture/lane.ts'
import { flag, integer, list, oneOf, parsed, type Setting, text } from './setting.ts'
import { egressCaFile, egressToken } from './egress.ts'

/** A TCP address as `host:port`; IPv6 literals stand in brackets. */
export type HostPort = { readonly host: string; readonly port: number }

/** A `HostPort`. */
export const hostPort = (name: string, help: string): Setting<HostPort> =>
  parsed(
    name,
    { help: `${help}, host:port`, kind: 'host:port', problem: 'must be a host and a port, such as 127.0.0.1:3128' },
    (value) => {
      const url = /[/?#@\s]/.test(value) ? null : URL.parse(`tcp://${value}`)
      if (!url?.hostname || !url.port) return undefined
      return { host: url.hostname.replaceAll(/[[\]]/g, ''), port: Number(url.port) }
    },
  )

const slotsMax = 16

/** Settings of the worker only. */
export const workerSettings = {
  pool: oneOf('WORKER_POOL', { help: 'pool that the worker serves', fallback: 'standard', values: pools }),
  pod: text('WORKER_POD', {
    help: 'name of the worker, unique in its pool: letters, digits, hyphens; empty: derived from its process id',
    fallback: '',
  }),
  slots: integer('WORKER_SLOTS', {
    help: 'captures served at a time, each by its own browser; more than the number of cores gains nothing',
    fallback: 1,
    min: 1,
    max: slotsMax,
  }),
  reservedSlots: integer('WORKER_RESERVED_SLOTS', {
    help: 'slots that never serve a capture of a batch, fewer than all; a batch of slow pages leaves them to other captures',
    fallback: 0,
    min: 0,
    max: slotsMax - 1,
  }),
  spareSeconds: integer('WORKER_SPARE_SECONDS', {
    help: 'time that a single-use worker waits for its capture before it ends',
    unit: 's',
    fallback: 600,
    min: 5,
    max: 86_400,
  }),
  openingKeys: list('WORKER_OPENING_KEYS', {
    help: 'private keys that open what is sealed for the pool, newest first; old ones are kept for the longest wait',
    secret: true,
  }),
  egress: hostPort('WORKER_EGRESS', 'egress filter through which pages are loaded'),
  egressToken,
  egressCaFile,
  chromium: text('CHROMIUM', {
    help: 'Chromium or headless-shell binary; browsers see the whole folder that it lies in',
    fallback: '/usr/lib/chromium/chromium-headless-shell',
  }),
  stealthChromium: text('STEALTH_CHROMIUM', {
    help: 'full Chromium binary of captures with `stealth`; browsers see the whole folder that it lies in',
    fallback: '/usr/lib/chromium/chromium',
  }),
  browserUser: text('WORKER_BROWSER_USER', {
    help: 'user under whose subordinate ids (/etc/subuid), two for each slot, browsers run if the worker is root; otherwise unused',
    fallback: 'shutterfleet-browser',
  }),
  networkIsolation: oneOf('WORKER_NETWORK_ISOLATION', {
    help: 'how browsers are confined: namespaces without network and with a file tree of their own, or only flags (needs a network policy)',
    fallback: 'namespace',
    values: ['namespace', 'flags-only'],
  }),
  unsafeNoSandbox: flag('WORKER_UNSAFE_NO_SANDBOX', {
    help: "run Chromium without its sandbox: a page that breaks its renderer then has the browser user's rights",
    fallback: false,
  }),
  blockLists: text('WORKER_BLOCK_LISTS', {
    help: "folder of further block lists: folders cookies, ads, trackers and chats with files *.txt in EasyList's syntax; empty: only the built-in ones",
    fallback: '',
  }),
  shareBrowsers: oneOf('WORKER_SHARE_BROWSERS', {
    help: 'which captures may share a browser and its namespaces, each in its own context: all of the pool, those of one account, or none; with capture, and with account once a worker has served a second account, the next browser is kept ready in each slot',
    fallback: 'account',
    values: ['pool', 'account', 'capture'],
  }),
  recycleCaptures: integer('WORKER_RECYCLE_CAPTURES', {
    help: 'captures after which a browser is replaced',
    fallback: 50,
    min: 1,
    max: 10_000,
  }),
  recycleSeconds: integer('WORKER_RECYCLE_SECONDS', {
    help: 'age at which a browser is replaced before its next capture',
    unit: 'seconds',
    fallback: 600,
    min: 10,
    max: 86_400,
  }),
  heightMax: integer('WORKER_HEIGHT_MAX', {
    help: 'most CSS pixels of the height of a full page; what is below is cut off, with a warning',
    unit: 'CSS px',
    fallback: 20_000,
    min: 200,
    max: 100_000,
  }),
  pixelsMax: integer('WORKER_PIXELS_MAX', {
    help: 'most device pixels of a picture, before it is resized; what is below is cut off, with a warning',
    unit: 'pixels',
    fallback: 80_000_000,
    min: 1_000_000,
    max: 400_000_000,
  }),
  browserMemoryMax: integer('WORKER_BROWSER_MEMORY_MAX', {
    help: 'most private memory of a browser and its host during a capture, which fails if it is exceeded; up to 1 GiB of files comes on top',
    unit: 'bytes',
    fallback: 2_147_483_648,
    min: 268_435_456,
    max: 1_099_511_627_776,
  }),
  captureBytesMax: integer('WORKER_CAPTURE_BYTES_MAX', {
    help: 'most bytes that one capture loads and sends; its connections are closed if it exceeds them',
    unit: 'bytes',
    fallback: 536_870_912,
    min: 1_048_576,
    max: 1_099_511_627_776,
  }),
  captureConnectionsMax: integer('WORKER_CAPTURE_CONNECTIONS_MAX', {
    help: 'most connections that one capture opens; more are refused',
    fallback: 512,
    min: 1,
    max: 65_535,
  }),
}
