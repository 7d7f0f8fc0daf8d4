import type { Config } from './config.ts'
import { type Activity, recordActivities } from '#gateway/db/activity.ts'
import type { Events } from '#gateway/telemetry/events.ts'
import type { Database } from '#shared/db/connection.ts'
import { openLogExport } from '#shared/telemetry/log-export.ts'
import { ActivityRecorder } from '#gateway/activity/activity-recorder.ts'
import { toLogRecord } from '#gateway/activity/to-log-record.ts'

type From = {
  readonly database: Database
  readonly config: Pick<Config, 'activityLogsUrl'>
  readonly events: Events
}

/** Opens the recorder, whose batches are also exported once they are stored. */
export const openRecorder = async (
  stack: AsyncDisposableStack,
  { database, config: { activityLogsUrl }, events }: From,
): Promise<ActivityRecorder> => {
  const { activityExported: sent, activityNotExported: lost } = events
  const logs = activityLogsUrl && stack.use(await openLogExport('gateway', activityLogsUrl, { sent, lost }))
  const write = async (activities: readonly Activity[]) => {
    const stored = await recordActivities(database, activities)
    if (logs) logs.send(stored.map(toLogRecord))
  }
  return stack.use(new ActivityRecorder({ write, events }))
}
