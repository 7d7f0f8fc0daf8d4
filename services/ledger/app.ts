import { pools } from '#shared/capture/lane.ts'
import { poolWakeupSubject, relayWakeupSubject } from '#shared/queue/subjects.ts'
import { listHeldAccounts } from '#shared/db/held-accounts.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import { createPauseKeeper } from './apply-pauses.ts'
import { keepPartitions } from './keep-partitions.ts'
import { createMeterCheck } from './check-meters.ts'
import type { Ledger } from './context.ts'
import { eraseAccounts } from './erase-accounts.ts'
import { followReceivers } from './follow-receivers.ts'
import { finishDeletions } from './finish-deletions.ts'
import { subscribeToPoolStates, type PoolStates } from './subscribe-to-pool-states.ts'
import { createStreamKeeper, setUpStreams } from './keep-streams.ts'
import type { LoopName } from './telemetry/events.ts'
import { type Loop, repeat } from './repeat.ts'
import { createPredictor } from './predict-arrivals.ts'
import { createBacklog } from './publish-backlog.ts'
import { reap, republishUnstarted } from './reaper.ts'
import { relay } from './relay.ts'
import { removeObjects } from './remove-objects.ts'
import { findBusiestAccounts } from './db/busiest-accounts.ts'
import { removeOldRows } from './remove-old-rows.ts'
import { consumeReports } from './reports/consume-reports.ts'
import { sweepOrphans } from './sweep-orphans.ts'

/**
 * Time between turns of a loop, and while the ledger is idle, when a wakeup or a report wakes the loops. At rest it is longer still,
 * unless the loop is `restless`: nothing but its turns finds what it works on, and that was promised sooner.
 */
type Pace = { readonly everyMs: number; readonly idleMs: number; readonly restless?: true }

/** Time without wakeups, reports and open captures after which the ledger is idle. */
const idleAfterMs = 10_000

const loopsWith =
  ({ rest }: Pick<Ledger, 'rest'>) =>
  (name: LoopName, pace: Pace | Loop['everyMs'], turn: Loop['turn'], wakeup = createWakeup()): Loop => {
    rest.subscribe(wakeup, idleAfterMs)
    if (typeof pace === 'function') return { name, everyMs: pace, turn, wakeup, pauseTurns: 0 }
    const idleMs = () => (pace.restless ? pace.idleMs : rest.pace(pace.idleMs))
    const everyMs = () => (rest.quietMs() < idleAfterMs ? pace.everyMs : idleMs())
    return { name, everyMs, turn, wakeup, pauseTurns: 0 }
  }

/**
 * Each loop that deletes works a fifth of the time, so that concurrent accepts hardly wait, and still removes more than the
 * 1,000 rows per second that may be added (docs/benchmarks.md, "While rows are removed").
 */
const cleanupPauseTurns = 4

type Cleanup = Pick<Ledger, 'database' | 'queue' | 'objects' | 'events' | 'rest' | 'rowRetentionDays' | 'activityDays'>

/** The loops that delete. Each continues while its batches are full; several ledgers share the work. */
export const cleanupLoops = (ledger: Cleanup): Loop[] => {
  const loop = loopsWith(ledger)
  return [
    loop('deletions', { everyMs: 1000, idleMs: 5000 }, () => finishDeletions(ledger)),
    loop('removals', { everyMs: 5000, idleMs: 15_000, restless: true }, () => removeObjects(ledger)),
    loop('erasures', { everyMs: 5000, idleMs: 15_000, restless: true }, () => eraseAccounts(ledger)),
    loop('receivers', { everyMs: 5000, idleMs: 15_000, restless: true }, () => followReceivers(ledger)),
    loop('orphans', { everyMs: 30_000, idleMs: 30_000 }, () => sweepOrphans(ledger)),
    loop('partitions', { everyMs: 600_000, idleMs: 600_000 }, () => keepPartitions(ledger)),
    loop('retention', { everyMs: 60_000, idleMs: 60_000 }, () => removeOldRows(ledger)),
  ].map((each) => ({ ...each, pauseTurns: cleanupPauseTurns }))
}

const backlogPace = { everyMs: 1000, idleMs: 2000 }

/** The loops of a ledger. */
export const createLoops = (ledger: Ledger, states: Pick<PoolStates, 'couldNotStartFor'>): Loop[] => {
  const loop = loopsWith(ledger)
  const reconnected = createWakeup()
  const predictor = createPredictor(ledger)
  const predict = async () => {
    for (const { pool, captures } of await predictor.predict()) ledger.events.arrivalsPredicted(pool, captures)
  }
  return [
    // The only one that finds what was accepted by a gateway that could not publish it.
    loop('relay', { everyMs: 500, idleMs: 5000, restless: true }, () => relay(ledger), ledger.relayWakeup),
    // Subscribers treat a count as unknown after more than two intervals, so that one may be lost.
    loop('backlog', backlogPace, createBacklog(ledger, predictor, backlogPace.idleMs)),
    loop('prediction', predictor.untilNextMs, predict),
    loop('pauses', { everyMs: 1000, idleMs: 2000 }, createPauseKeeper(ledger)),
    loop('accounts', { everyMs: 15_000, idleMs: 60_000 }, async () => {
      ledger.events.heldAccountsRead(await listHeldAccounts(ledger.database))
      ledger.events.accountsCounted(await findBusiestAccounts(ledger.database))
    }),
    loop('reaper', { everyMs: 1000, idleMs: 5000 }, () => reap(ledger, states)),
    loop('streams', { everyMs: 5000, idleMs: 15_000 }, createStreamKeeper(ledger, reconnected), reconnected),
    loop('unstarted', { everyMs: 60_000, idleMs: 60_000 }, () => republishUnstarted(ledger)),
    loop('meters', { everyMs: 60_000, idleMs: 60_000 }, createMeterCheck(ledger)),
    ...cleanupLoops(ledger),
  ]
}

/** Declares the streams, then runs the ledger's loops until `stop` aborts. Resolves once running turns are finished. */
export const runLedger = async (ledger: Ledger, stop: AbortSignal, ready: () => void): Promise<void> => {
  await setUpStreams(ledger)
  ledger.stores.start()
  using wakeups = new DisposableStack()
  const { markBusy } = ledger.rest
  wakeups.use(
    ledger.queue.subscribe(relayWakeupSubject, () => {
      ledger.relayWakeup.notify()
      markBusy()
    }),
  )
  // Of captures that any gateway has accepted, whether or not a worker begins them.
  for (const pool of pools) wakeups.use(ledger.queue.subscribe(poolWakeupSubject(pool), markBusy))
  // During a disconnect the broker may have lost messages and wakeups.
  wakeups.use(ledger.queue.onReconnect(markBusy))
  using states = subscribeToPoolStates(ledger)
  ready()
  const loops = createLoops(ledger, states).map((each) => repeat(each, ledger.events, stop))
  await Promise.all([consumeReports(ledger, stop), ...loops])
}
