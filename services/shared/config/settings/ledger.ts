import { integer } from './setting.ts'
import { admissionSettings } from './gateway.ts'

/** Settings of the ledger only, and those that it shares with others. */
export const ledgerSettings = {
  ...admissionSettings,
  unstartableWaitSeconds: integer('PROXIED_WAIT_SECONDS', {
    help: "a capture that has not begun after this time fails if during all of it no worker could be started for a caller's proxy, or no pool of workers served its queue; no effect if longer than the longest wait",
    unit: 'seconds',
    fallback: 300,
    min: 10,
    max: 86_400,
  }),
  resultsMaxBytes: integer('RESULTS_MAX_BYTES', {
    help: 'size of the results stream in NATS, which keeps results for two hours at most, about 800 bytes for each capture; 0 keeps the current size, and creates a new stream with 1 GiB. If the size is exceeded, the oldest results are lost, read or not',
    unit: 'bytes',
    fallback: 0,
    min: 0,
    max: 1_099_511_627_776,
  }),
  streamReplicas: integer('STREAM_REPLICAS', {
    help: 'replicas of each stream in a NATS cluster; 0: 3, which survive the loss of one, if the cluster has room for them, or more if a stream has more',
    fallback: 0,
    min: 0,
    max: 5,
  }),
  rowRetentionDays: integer('ROW_RETENTION_DAYS', {
    help: 'records are removed this long after their captures ended, or up to a twelfth of this time and one day later, but not before their images',
    unit: 'days',
    fallback: 90,
    min: 2,
    max: 3650,
  }),
  activityDays: integer('ACTIVITY_DAYS', {
    help: 'what authenticated requests did is removed after this time',
    unit: 'days',
    fallback: 90,
    min: 1,
    max: 3650,
  }),
}
