import { nudgeSubject } from '#shared/queue/subjects.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import { createMeterCheck } from './check-meters.ts'
import type { Ledger } from './context.ts'
import { finishDeletions } from './finish-deletions.ts'
import { forgetOld } from './forget-old.ts'
import { subscribeToPoolStates, type PoolStates } from './subscribe-to-pool-states.ts'
import { createStreamKeeper, setUpStreams } from './keep-streams.ts'
import type { LoopName } from './events.ts'
import { type Loop, runLoop } from './loop.ts'
import { createBacklog } from './publish-backlog.ts'
import { reap, sendUnbegunAgain } from './reaper.ts'
import { relay } from './relay.ts'
import { removeObjects } from './remove-objects.ts'
import { removeOldRows } from './remove-old-rows.ts'
import { consumeReports } from './reports/consume-reports.ts'
import { sweepOrphans } from './sweep-orphans.ts'

/** How often a loop runs, and how often while the ledger is idle: a nudge or a report then announces its work. */
type Pace = { readonly everyMs: number; readonly idleMs: number }

const loopsWith =
  ({ idleMonitor }: Pick<Ledger, 'idleMonitor'>) =>
  (name: LoopName, pace: Pace, turn: Loop['turn'], wakeup = createWakeup()): Loop => {
    idleMonitor.subscribe(wakeup)
    const everyMs = () => (idleMonitor.isIdle() ? pace.idleMs : pace.everyMs)
    return { name, everyMs, turn, wakeup, pauseTurns: 0 }
  }

/** Each kind of row is then removed for a fifth of the time. Without pauses p99 of accepts beside them was 119 ms, and 12,000 rows went a second where 1,000 come; with them 42 ms and 4,450 (`make bench-http`). */
const cleanupPauseTurns = 4

/** The loops that delete. Each goes on while its batches are full, and shares its work with other ledgers. */
export const cleanupLoops = (ledger: Ledger): Loop[] => {
  const loop = loopsWith(ledger)
  return [
    loop('deletions', { everyMs: 1000, idleMs: 5000 }, () => finishDeletions(ledger)),
    loop('removals', { everyMs: 5000, idleMs: 15_000 }, () => removeObjects(ledger)),
    loop('forgetting', { everyMs: 60_000, idleMs: 60_000 }, () => forgetOld(ledger)),
    loop('orphans', { everyMs: 30_000, idleMs: 30_000 }, () => sweepOrphans(ledger)),
    loop('retention', { everyMs: 60_000, idleMs: 60_000 }, () => removeOldRows(ledger)),
  ].map((each) => ({ ...each, pauseTurns: cleanupPauseTurns }))
}

const loopsOf = (ledger: Ledger, states: PoolStates): Loop[] => {
  const loop = loopsWith(ledger)
  return [
    loop('relay', { everyMs: 500, idleMs: 5000 }, () => relay(ledger), ledger.relayWakeup),
    // Subscribers treat a count as unknown after five seconds: one may be lost.
    loop('backlog', { everyMs: 1000, idleMs: 2000 }, createBacklog(ledger)),
    loop('reaper', { everyMs: 1000, idleMs: 5000 }, () => reap(ledger, states)),
    loop('streams', { everyMs: 5000, idleMs: 15_000 }, createStreamKeeper(ledger)),
    loop('unbegun', { everyMs: 60_000, idleMs: 60_000 }, () => sendUnbegunAgain(ledger)),
    loop('meters', { everyMs: 60_000, idleMs: 60_000 }, createMeterCheck(ledger)),
    ...cleanupLoops(ledger),
  ]
}

/** Declares the streams, then runs the ledger's loops until `stop` aborts. Resolves once turns under way are finished. */
export const runLedger = async (ledger: Ledger, stop: AbortSignal, ready: () => void): Promise<void> => {
  await setUpStreams(ledger)
  using _nudges = ledger.queue.subscribe(nudgeSubject, () => {
    ledger.relayWakeup.notify()
    ledger.idleMonitor.markBusy()
  })
  // The broker may have lost its messages, and nudges with them.
  using _back = ledger.queue.whenBack(ledger.idleMonitor.markBusy)
  using states = subscribeToPoolStates(ledger)
  ready()
  const loops = loopsOf(ledger, states).map((each) => runLoop(each, ledger.events, stop))
  await Promise.all([consumeReports(ledger, stop), ...loops])
}
