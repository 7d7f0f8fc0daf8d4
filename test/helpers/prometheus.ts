import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endWithParent } from './cluster-processes.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

/** Built by scripts/build-prometheus.sh. */
const programs = resolve(import.meta.dirname, '../../.tools/prometheus')
const ruleFolder = resolve(import.meta.dirname, '../../charts/shutterfleet/files/rules')
const startMs = 60_000
const queryMs = 10_000
/** Interval of the polls of Prometheus, which scrapes and evaluates once a second; each costs processor time that its targets need. */
export const prometheusPollMs = 500

/** A series of a query result, with its samples as text. */
export type Series = {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [atSeconds: number, value: string])[]
}

/** The last evaluation of a rule; `state` only for alerts. */
export type EvaluatedRule = {
  readonly name: string
  readonly health: 'ok' | 'err' | 'unknown'
  readonly state?: 'inactive' | 'pending' | 'firing'
  readonly labels: Readonly<Record<string, string>>
  /** ISO 8601. */
  readonly lastEvaluation: string
  readonly lastError?: string
}

/** A target of `/api/v1/targets`. */
type Target = { readonly scrapeUrl: string; readonly health: 'up' | 'down' | 'unknown'; readonly lastError: string }

/** A Prometheus on loopback, with the rules of the chart. */
export type Prometheus = AsyncDisposable & {
  readonly url: string
  /** The series of a query over the last `seconds`, in steps of one second. */
  readonly query: (expr: string, seconds: number) => Promise<Series[]>
  /** The labels of the exemplars of a query's series over the last hour. */
  readonly exemplars: (expr: string) => Promise<Readonly<Record<string, string>>[]>
  readonly rules: () => Promise<EvaluatedRule[]>
  /** The labels of the alerts that fire. */
  readonly firing: () => Promise<Readonly<Record<string, string>>[]>
}

/**
 * Copies the rules of the chart, with every `for` divided by `hurry` and without intervals of groups, the only changes.
 * Expressions and their windows are unchanged; windows contain the samples since the start.
 */
const copyRules = async (folder: string, hurry: number): Promise<void> => {
  for (const name of await readdir(ruleFolder)) {
    const text = await readFile(join(ruleFolder, name), 'utf8')
    const minutes = /^( +for: )(\d+)m$/gm
    if (text.match(/^ +for:/gm)?.length !== text.match(minutes)?.length)
      throw new Error(`${name}: a for is not in minutes`)
    const hurried = text.replaceAll(
      minutes,
      (_, key: string, value: string) => `${key}${Math.ceil((+value * 60) / hurry)}s`,
    )
    await writeFile(join(folder, name), hurried.replaceAll(/^ +interval: .*\n/gm, ''))
  }
}

const configOf = (targets: readonly string[], ruleFiles: string) =>
  JSON.stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [ruleFiles],
    scrape_configs: [{ job_name: 'shutterfleet', static_configs: [{ targets }] }],
  })

/** Starts a Prometheus that scrapes `/metrics` of these hosts with ports every second. Rules are loaded once all are scraped, so that none is absent before. `hurry`: see `copyRules`. */
export const startPrometheus = async (targets: readonly string[], { hurry = 1 } = {}): Promise<Prometheus> => {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'prometheus.yml')
  await writeFile(config, configOf(targets, join(folder, '*.yaml')))
  const address = `127.0.0.1:${await freePort()}`
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`,
    '--enable-feature=exemplar-storage',
  ]
  const child = spawn('setpriv', [...endWithParent, join(programs, 'prometheus'), ...flags], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  opened.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const isReady = async () =>
    (await fetch(`http://${address}/-/ready`, { signal: AbortSignal.timeout(queryMs) })).status === 200
  await eventually(isReady, { withinMs: startMs, what: 'Prometheus is ready' })
  const read = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${path}`, { signal: AbortSignal.timeout(queryMs) })
    const answer = (await response.json()) as { error?: string; data?: T }
    if (!answer.data) throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }
  const query: Prometheus['query'] = async (expr, seconds) => {
    const now = Date.now() / 1000
    const parameters = new URLSearchParams({ query: expr, start: String(now - seconds), end: String(now), step: '1' })
    return (await read<{ result: Series[] }>(`query_range?${parameters.toString()}`)).result
  }
  const exemplars: Prometheus['exemplars'] = async (expr) => {
    const now = Date.now() / 1000
    const parameters = new URLSearchParams({ query: expr, start: String(now - 3600), end: String(now) })
    const found = await read<{ exemplars: { labels: Record<string, string> }[] }[]>(
      `query_exemplars?${parameters.toString()}`,
    )
    return found.flatMap(({ exemplars: all }) => all.map(({ labels }) => labels))
  }
  const expectScraped = async () => {
    const { activeTargets } = await read<{ activeTargets: Target[] }>('targets')
    const missing = activeTargets.filter(({ health }) => health !== 'up')
    if (missing.length > 0) throw new Error(missing.map((each) => `${each.scrapeUrl}: ${each.lastError}`).join(', '))
    return (await query('up == 1', 0)).length === targets.length
  }
  await eventually(expectScraped, { withinMs: startMs, what: 'every target is scraped' })
  await copyRules(folder, hurry)
  child.kill('SIGHUP')
  const rest = opened.move()
  return {
    url: `http://${address}`,
    query,
    exemplars,
    firing: async () =>
      (await read<{ alerts: { state: string; labels: Record<string, string> }[] }>('alerts')).alerts.flatMap((alert) =>
        alert.state === 'firing' ? [alert.labels] : [],
      ),
    rules: async () =>
      (await read<{ groups: { rules: EvaluatedRule[] }[] }>('rules')).groups.flatMap(({ rules: all }) => all),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}
