import { address, flag, integer, port, text } from './setting.ts'
import { adminSettings } from './admin.ts'
import { consoleSettings } from './console.ts'
import { allowSettings, targetListSettings } from './egress.ts'
import { linkSettings } from './links.ts'
import { listenHost } from './listen-host.ts'
import { shutdownDelay } from './shutdown-delay.ts'
import { recordKeys } from './named-keys.ts'
import { oidcSettings } from './oidc.ts'
import { routedSettings } from './router.ts'

/** Bounds of waiting captures; gateway and ledger share them. */
export const admissionSettings = {
  windowCaptures: integer('WINDOW_CAPTURES', {
    help: 'captures of one account, pool and lane that are in the queue at one time and have not begun; more wait their turn in the database',
    unit: 'captures',
    fallback: 16,
    min: 1,
    max: 10_000,
  }),
  longestWaitSeconds: integer('LONGEST_WAIT_SECONDS', {
    help: 'a capture that has not begun after this time fails',
    unit: 'seconds',
    fallback: 86_400,
    min: 60,
    max: 518_400,
  }),
}

/** Settings of the gateway only, and those that it shares with others. */
export const gatewaySettings = {
  ...allowSettings,
  ...targetListSettings,
  ...admissionSettings,
  ...linkSettings,
  ...adminSettings,
  ...consoleSettings,
  ...oidcSettings,
  ...routedSettings,
  databaseReplicaUrl: address('DATABASE_REPLICA_URL', {
    help: 'streaming replica of PostgreSQL, or several behind one address, for lists, batches and usage by day; with the password settings and the size of the pool of DATABASE_URL, and through a pooler if DATABASE_DIRECT_URL is set. While it cannot be reached or lags, the primary serves them; empty: always',
    fallback: '',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  keyPepper: text('KEY_PEPPER', {
    help: 'secret with which API keys are hashed; the gateway does not start if the keys in its database are hashed with a different one',
    secret: true,
  }),
  recordKeys,
  keyFailuresPerMinute: integer('KEY_FAILURES_PER_MINUTE', {
    help: 'wrong API keys that one client (an IPv4 address or IPv6 /64) may send to one gateway at once, and again in each minute; an IPv6 /48 may send eight times as many; valid keys are served all the same',
    unit: 'requests per minute',
    fallback: 60,
    min: 1,
    max: 1_000_000,
  }),
  browserAgeDaysMax: integer('BROWSER_AGE_DAYS_MAX', {
    help: "age above which workers' browsers are reported as old: in the console, by `doctor` and by an alert",
    unit: 'days',
    fallback: 30,
    min: 1,
    max: 3650,
  }),
  gatewayHost: listenHost('GATEWAY_HOST', 'address on which the HTTP interface listens'),
  gatewayPort: port('GATEWAY_PORT', { help: 'port on which the HTTP interface listens', fallback: 8080 }),
  connectionsMax: integer('GATEWAY_CONNECTIONS_MAX', {
    help: 'connections of clients to one gateway at a time, a quarter of them of one client (an IPv4 address or IPv6 /64) and half of an IPv6 /48, unless it is one of SHUTTERFLEET_TRUSTED_PROXIES; further ones are closed at once',
    fallback: 4000,
    min: 16,
    max: 65_535,
  }),
  publicUrl: address('PUBLIC_URL', {
    help: 'address under which clients reach the service, for links in responses; empty: where the gateway listens',
    fallback: '',
    schemes: ['http', 'https'],
  }),
  // Public, but kept in files with the private keys; so `secret`.
  sealingKeyStandard: text('SEALING_KEY_STANDARD', {
    help: 'public key to which captures for the standard pool are sealed',
    secret: true,
  }),
  sealingKeyProxied: text('SEALING_KEY_PROXIED', {
    help: "public key to which captures with a caller's proxy are sealed",
    secret: true,
  }),
  sealingKeyStealth: text('SEALING_KEY_STEALTH', {
    help: 'public key to which captures with `stealth` are sealed; empty: no workers have full Chromium (SHUTTERFLEET_STEALTH_CHROMIUM), and such captures are refused',
    fallback: '',
    secret: true,
  }),
  sealingKeyWebhooks: text('SEALING_KEY_WEBHOOKS', {
    help: 'public key to which the secrets of webhooks are sealed',
    secret: true,
  }),
  hasMcp: flag('MCP', {
    help: 'whether the tools for models (Model Context Protocol) are served at `/mcp` (docs/mcp.md)',
    fallback: false,
  }),
  queueAllowanceMs: integer('SYNC_QUEUE_MS', {
    help: 'time that a synchronous capture may wait for a worker, on top of its own budget, before the response is 202',
    unit: 'ms',
    fallback: 30_000,
    min: 0,
    max: 600_000,
  }),
  waitersMax: integer('SYNC_WAITERS_MAX', {
    help: 'synchronous captures that wait at a time in one gateway, at most half of them of one account, and less while others wait too; more get 202 at once',
    fallback: 1000,
    min: 1,
    max: 100_000,
  }),
  liveMax: integer('LIVE_MAX', {
    help: 'requests that wait for a status, and as many event streams, held open at a time in one gateway',
    fallback: 1000,
    min: 1,
    max: 100_000,
  }),
  liveAccountMax: integer('LIVE_ACCOUNT_MAX', {
    help: 'as SHUTTERFLEET_LIVE_MAX, for one account',
    fallback: 100,
    min: 1,
    max: 100_000,
  }),
  streamSeconds: integer('STREAM_SECONDS', {
    help: 'longest time that an event stream stays open; its client then reconnects',
    unit: 'seconds',
    fallback: 900,
    min: 1,
    max: 86_400,
  }),
  activityLogsUrl: address('ACTIVITY_LOGS_URL', {
    help: 'URL of an OTLP receiver of logs, such as http://collector:4318/v1/logs, to which activity is sent too (protobuf over HTTP; headers in OTEL_EXPORTER_OTLP_LOGS_HEADERS); empty: it is only stored',
    schemes: ['http', 'https'],
    fallback: '',
  }),
  objectsHost: listenHost('GATEWAY_OBJECTS_HOST', 'address on which workers put images with the files driver'),
  objectsPort: port('GATEWAY_OBJECTS_PORT', {
    help: 'port on which workers put images with the files driver',
    fallback: 0,
  }),
  objectBytesMax: integer('OBJECT_BYTES_MAX', {
    help: 'largest image that the files driver accepts',
    unit: 'bytes',
    fallback: 536_870_912,
    min: 1_048_576,
    max: 17_179_869_184,
  }),
  shutdownDelayMs: shutdownDelay('GATEWAY_SHUTDOWN_DELAY_MS'),
  drainMs: integer('GATEWAY_DRAIN_MS', {
    help: 'time that running requests get to end when the gateway is stopped; waiting requests then get 202',
    unit: 'ms',
    fallback: 20_000,
    min: 0,
    max: 600_000,
  }),
}
