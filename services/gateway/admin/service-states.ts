import type { ServiceReports } from '#gateway/queue/fleet-watch.ts'
import { restMaxMs } from '#shared/process/rest.ts'

/** The controller decides, and the ledger counts, at least every five seconds, at rest every `restMaxMs`. */
const silentMs = 2 * restMaxMs

/** State of something that reports: `ok`, or for how long `what` was not received. */
export const stateOf = (lastMs: number | undefined, what: string): string => {
  if (lastMs === undefined) return `no ${what} received`
  return lastMs < silentMs ? 'ok' : `no ${what} for ${Math.round(lastMs / 1000)} s`
}

/** The services that can be observed over NATS; `state` is `ok`, or why not. */
export const servicesOf = ({ ledgerSilentMs, pools }: ServiceReports) => [
  { name: 'ledger', state: stateOf(ledgerSilentMs, 'backlog report') },
  {
    name: 'controller',
    state: stateOf(pools.length === 0 ? undefined : Math.min(...pools.map((each) => each.silentMs)), 'decision'),
  },
]
