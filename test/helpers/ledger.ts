import { Rest } from '#shared/process/rest.ts'
import { createWakeup } from '#shared/process/wakeup.ts'
import type { Ledger } from '#ledger/context.ts'
import { createEvents, type Events } from '#ledger/telemetry/events.ts'
import type { Database } from '#shared/db/connection.ts'
import { connectQueue, type Queue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'

/** Connects as a service does, and disconnects at the test's end. */
export const openQueue = async (
  t: { teardown: (clean: () => Promise<void>) => void },
  url: string,
  name: 'ledger' | 'gateway' | 'worker_standard' = 'ledger',
): Promise<Queue> => {
  const queue = await connectQueue({ url, name, inboxPrefix: userInboxPrefix(name), notice: () => {} })
  t.teardown(async () => {
    await queue[Symbol.asyncDispose]()
  })
  return queue
}

/** Dependencies of a test's ledger: real database and queue, an object store that only records deletions. */
export type TestLedger = Ledger & {
  readonly deleted: string[]
  readonly recordedEvents: [keyof Events, ...unknown[]][]
}

/** Creates a ledger that records its events and deletions. */
export const createTestLedger = (database: Database, queue: Queue, more: Partial<Ledger> = {}): TestLedger => {
  const deleted: string[] = []
  const recordedEvents: TestLedger['recordedEvents'] = []
  const log = createLogger({ service: 'ledger', level: 'silent' })
  const events = new Proxy(createEvents(log, createMetrics('ledger')), {
    get: (all, name) => {
      const event: unknown = Reflect.get(all, name)
      if (typeof event !== 'function') return event
      return (...details: unknown[]) => {
        recordedEvents.push([name as keyof Events, ...details])
        Reflect.apply(event, all, details)
      }
    },
  })
  return {
    database,
    queue,
    objects: {
      delete: async (keys) => {
        deleted.push(...keys)
        return []
      },
      list: async function* list() {},
    },
    stores: { start: () => {} },
    events,
    relayWakeup: createWakeup(),
    rest: new Rest(),
    windowCaptures: 16,
    longestWaitSeconds: 86_400,
    unstartableWaitSeconds: 300,
    resultsMaxBytes: 0,
    streamReplicas: 0,
    rowRetentionDays: 90,
    activityDays: 90,
    deleted,
    recordedEvents,
    ...more,
  }
}
