import { integer, list, parsed, requiredAddress } from './setting.ts'
import { egressCaFile, egressToken } from './egress.ts'
import { recordKeys } from './named-keys.ts'
import { hostPort } from './worker.ts'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const waitsMax = 20
const longestMs = 24 * 3_600_000

/** The two schedules that the contract names. */
const presets: Readonly<Record<string, string>> = { A: '30s,2m,10m', B: '10s,60s,5m' }

const readWait = (written: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(written.trim()) ?? []
  return Number(count) * (unitMs[unit] ?? Number.NaN)
}

/** Waits before the second attempt, the third and so on, in milliseconds. */
export const webhookRetries = parsed(
  'WEBHOOK_RETRIES',
  {
    help: 'waits between the attempts of a delivery: A (30s,2m,10m), B (10s,60s,5m), or a list of your own; each is extended at random by up to a tenth',
    fallback: 'A',
    kind: `A | B | list such as 30s,2m,10m; units ms, s, m, h; at most ${waitsMax}, each up to 24h`,
    problem: `must be A, B or a list such as 30s,2m,10m of at most ${waitsMax} waits up to 24h`,
  },
  (value): readonly number[] | undefined => {
    const waits = (presets[value.trim().toUpperCase()] ?? value).split(',').map(readWait)
    return waits.length <= waitsMax && waits.every((ms) => ms > 0 && ms <= longestMs) ? waits : undefined
  },
)

/** Settings of the sender of webhooks alone. */
export const webhookSettings = {
  webhookRetries,
  publicUrl: requiredAddress('PUBLIC_URL', {
    help: 'address under which clients reach the service, for links in webhooks',
    schemes: ['http', 'https'],
  }),
  egress: hostPort('WEBHOOK_EGRESS', 'egress filter through which receivers are reached'),
  egressToken,
  egressCaFile,
  recordKeys,
  openingKeys: list('WEBHOOK_OPENING_KEYS', {
    help: 'private keys that open the secrets of webhooks, newest first',
    secret: true,
  }),
  inFlightMax: integer('WEBHOOK_IN_FLIGHT_MAX', {
    help: 'deliveries that one process attempts at a time; one account gets at most an eighth',
    fallback: 256,
    min: 16,
    max: 4096,
  }),
  drainMs: integer('WEBHOOK_DRAIN_MS', {
    help: 'time that running attempts get to end when the sender is stopped; interrupted deliveries are sent again',
    unit: 'ms',
    fallback: 20_000,
    min: 0,
    max: 600_000,
  }),
}
