import { integer } from '#shared/config/setting.ts'
import { admissionSettings } from './gateway.ts'

/** Settings of ledger alone, and those that it shares with others. */
export const ledgerSettings = {
  ...admissionSettings,
  proxiedWaitSeconds: integer('PROXIED_WAIT_SECONDS', {
    help: "a capture with a caller's proxy that has not begun after this time fails, if no worker could be started for all of it; longer than the longest wait it has no effect",
    unit: 'seconds',
    fallback: 300,
    min: 10,
    max: 86_400,
  }),
  rowRetentionDays: integer('ROW_RETENTION_DAYS', {
    help: 'records are removed this long after their captures ended, but not before their images',
    unit: 'days',
    fallback: 90,
    min: 2,
    max: 3650,
  }),
}
