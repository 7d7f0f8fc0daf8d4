import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endWithParent } from './cluster-processes.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

/** The folder that scripts/build-prometheus.sh fills. */
const programs = resolve(import.meta.dirname, '../../.tools/prometheus')
const rules = resolve(import.meta.dirname, '../../charts/shutterfleet/files/rules/*.yaml')
const startMs = 60_000
const queryMs = 10_000

/** A series of an answer, with its samples as text. */
export type Series = {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [atSeconds: number, value: string])[]
}

/** A Prometheus on loopback, with the rules of the chart. */
export type Prometheus = AsyncDisposable & {
  /** The series that a query gives over the last `seconds`, in steps of one. */
  readonly query: (expr: string, seconds: number) => Promise<Series[]>
}

const configOf = (targets: readonly string[]) =>
  JSON.stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'shutterfleet', static_configs: [{ targets }] }],
  })

/** Starts a Prometheus that scrapes `/metrics` of these hosts with ports every second. */
export const startPrometheus = async (targets: readonly string[]): Promise<Prometheus> => {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
  const config = join(folder, 'prometheus.yml')
  await writeFile(config, configOf(targets))
  const address = `127.0.0.1:${await freePort()}`
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`]
  const child = spawn('setpriv', [...endWithParent, join(programs, 'prometheus'), ...flags], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const isReady = async () =>
    (await fetch(`http://${address}/-/ready`, { signal: AbortSignal.timeout(queryMs) })).status === 200
  await eventually(isReady, { withinMs: startMs, what: 'Prometheus is ready' })
  return {
    query: async (expr, seconds) => {
      const now = Date.now() / 1000
      const of = new URLSearchParams({ query: expr, start: String(now - seconds), end: String(now), step: '1' })
      const response = await fetch(`http://${address}/api/v1/query_range?${of.toString()}`, {
        signal: AbortSignal.timeout(queryMs),
      })
      const answer = (await response.json()) as { error?: string; data?: { result: Series[] } }
      if (!answer.data) throw new Error(`${expr}: ${answer.error}`)
      return answer.data.result
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
