const dayMs = 86_400_000
/** Images that are built reproducibly set the times of files to before this, such as 1970 or 1980. */
const earliestBuildMs = Date.UTC(2015, 0, 1)

/**
 * When a browser was built, in milliseconds since 1970: the modification time of its binary, which packages set to that of
 * their build and installing keeps. Undefined if it cannot be that: before 2015, or in the future.
 */
export const toBuildTime = (modifiedMs: number, nowMs: number): number | undefined =>
  modifiedMs >= earliestBuildMs && modifiedMs <= nowMs + dayMs ? Math.round(modifiedMs) : undefined

/** Full days since a browser was built. */
export const browserAgeDays = (builtAtMs: number, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - builtAtMs) / dayMs))

/** What to do about a browser of this age; undefined if it is not older than `daysMax`. */
export const browserAgeAdvice = (ageDays: number, daysMax: number): string | undefined =>
  ageDays <= daysMax
    ? undefined
    : `${ageDays} days old, and pages use known faults of old browsers: update Chromium, or set SHUTTERFLEET_BROWSER_AGE_DAYS_MAX (${daysMax})`
