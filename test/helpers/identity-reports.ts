import type { IdentityReports } from '#shared/telemetry/identity-events.ts'

/** Records how readings of an identity end: the time in milliseconds at which each that succeeded ends, and the failures. */
export const recordIdentityReports = () => {
  const ends: (number | undefined)[] = []
  const failures: { setting: string; reason: string }[] = []
  const reports: IdentityReports = {
    renewed: (endsAtMs) => void ends.push(endsAtMs),
    failed: (setting, cause) => void failures.push({ setting, reason: String(cause) }),
  }
  return { reports, ends, failures }
}
