import { browserAgeAdvice } from '#shared/policy/browser-age.ts'
import { isAtLeast, natsLeast, parseVersion, postgresLeast } from '#shared/policy/program-version.ts'

/**
 * What a gateway knows about its installation, without rights to Kubernetes or to other machines. `undefined` is unknown: what
 * depends on it is not judged.
 */
export type Facts = {
  readonly nowMs: number
  /** State of each store and service: `ok`, or why not. */
  readonly states: Readonly<Record<string, string>>
  readonly postgresVersion: string | undefined
  readonly natsVersion: string | undefined
  /** PostgreSQL's clock minus the gateway's, in milliseconds, and how wrong that may be. */
  readonly clock: { readonly offsetMs: number; readonly errorMs: number } | undefined
  readonly browsers: readonly { readonly browser: string; readonly version: string; readonly age_days: number | null }[]
  readonly browserAgeDaysMax: number
  /** Address that clients use: the setting, else where the gateway listens. */
  readonly publicUrl: string
  readonly isPublicUrlSet: boolean
  /** Advice about an ignored proxy; undefined if none was ignored. */
  readonly proxyAdvice: string | undefined
  /** `since`: when the first was due. */
  readonly tasks:
    | readonly { readonly name: string; readonly waiting: number | null; readonly since: string | null }[]
    | undefined
  /** Valid API keys without a request in `unusedDays`. */
  readonly unusedKeys: number | undefined
}

/** A check with its result, as `doctor` prints it. `warning`: it works, but something should be changed. */
export type Finding = {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do; null if the state is `ok`. */
  readonly advice: string | null
}

/** Days without a request after which a key counts as unused. */
export const unusedDays = 180
const overdueMs = 3_600_000
/** Signed addresses, sessions and idempotency keys compare times of both clocks. */
const clockMsMax = 2000

const ok = (name: string, detail: string): Finding => ({ name, state: 'ok', detail, advice: null })
const warning = (name: string, detail: string, advice: string): Finding => ({ name, state: 'warning', detail, advice })

const stateAdvice: Readonly<Record<string, string>> = {
  postgresql: 'check server, disk space and SHUTTERFLEET_DATABASE_URL',
  nats: 'check the server, the space of its JetStream and SHUTTERFLEET_NATS_URL',
  object_store: 'check permissions and free space of the folder, or endpoint, key and bucket in SHUTTERFLEET_S3_URL',
  ledger: 'check that the service runs, and its log',
  controller: 'check that the service runs, and its log; without it pools keep their size',
}

const stateFindings = ({ states }: Facts): Finding[] =>
  Object.entries(states).map(([name, state]) =>
    state === 'ok'
      ? ok(name, 'works')
      : { name, state: 'failed', detail: state, advice: stateAdvice[name] ?? 'check the service' },
  )

const versionFinding = (
  name: string,
  version: string | undefined,
  least: readonly [number, number],
): readonly Finding[] => {
  if (version === undefined) return []
  if (isAtLeast(parseVersion(version), least)) return [ok(`${name}_version`, version)]
  return [warning(`${name}_version`, version, `update to ${least.join('.')} or newer, which this version needs`)]
}

const clockFinding = ({ clock }: Facts): readonly Finding[] => {
  if (!clock) return []
  const detail = `the clock of PostgreSQL differs by ${Math.round(clock.offsetMs)} ms`
  if (Math.abs(clock.offsetMs) <= clockMsMax + clock.errorMs) return [ok('clock', detail)]
  return [warning('clock', detail, 'synchronize the clocks of all machines, for instance with chrony')]
}

const browserFindings = ({ browsers, browserAgeDaysMax }: Facts): Finding[] =>
  browsers.map(({ browser, version, age_days: days }) => {
    const name = browser === 'shell' ? 'chromium' : 'full_chromium'
    if (days === null) return ok(name, `${version}, of unknown age`)
    const advice = browserAgeAdvice(days, browserAgeDaysMax)
    const detail = `${version}, built ${days} days ago`
    return advice === undefined ? ok(name, detail) : warning(name, detail, advice)
  })

const isLoopback = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname)

const publicUrlFinding = ({ publicUrl, isPublicUrlSet }: Facts): Finding => {
  const name = 'public_url'
  const url = new URL(publicUrl)
  if (isLoopback(url) || (isPublicUrlSet && url.protocol === 'https:')) return ok(name, publicUrl)
  if (!isPublicUrlSet) {
    const advice = 'set SHUTTERFLEET_PUBLIC_URL to the address that clients use'
    return warning(name, `not set: links in responses begin with ${publicUrl}`, advice)
  }
  const advice = 'put TLS in front of the gateway, and set SHUTTERFLEET_PUBLIC_URL to the https address'
  return warning(name, `${publicUrl}: keys and sessions cross the network readable`, advice)
}

const taskFindings = ({ tasks, nowMs }: Facts): readonly Finding[] => {
  if (!tasks) return []
  const overdue = tasks.filter(
    ({ waiting, since }) => waiting !== null && since !== null && nowMs - Date.parse(since) > overdueMs,
  )
  if (overdue.length === 0) return [ok('background_tasks', 'none is due for more than an hour')]
  const detail = overdue.map(({ name, waiting, since }) => `${name}: ${waiting} since ${since}`).join(', ')
  return [warning('background_tasks', detail, 'check the logs of ledger and webhooks')]
}

const keyFinding = ({ unusedKeys }: Facts): readonly Finding[] => {
  if (unusedKeys === undefined) return []
  const detail = `${unusedKeys} valid API keys without a request in ${unusedDays} days`
  if (unusedKeys === 0) return [ok('unused_keys', detail)]
  return [warning('unused_keys', detail, 'revoke those that nobody needs; give new ones an expiry')]
}

/** Judges what a gateway knows, in a fixed order. Pure. */
export const findingsOf = (facts: Facts): Finding[] => [
  ...stateFindings(facts),
  ...versionFinding('postgresql', facts.postgresVersion, postgresLeast),
  ...versionFinding('nats', facts.natsVersion, natsLeast),
  ...clockFinding(facts),
  ...browserFindings(facts),
  publicUrlFinding(facts),
  facts.proxyAdvice === undefined
    ? ok('clients', 'no proxy was ignored')
    : warning('clients', 'a proxy was ignored', facts.proxyAdvice),
  ...taskFindings(facts),
  ...keyFinding(facts),
]
