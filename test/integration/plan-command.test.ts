import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'
import { readDocument } from '#test/helpers/documented-json.ts'

const { NODE_OPTIONS: _loader, TAP: _tap, ...env } = process.env
const folder = t.testdir({ 'trace.csv': '0\n0\n1, bulk\n', 'timed.csv': '0,bulk,2\n1,bulk,4\n' })
const plan = async (...args: readonly string[]) =>
  (await promisify(execFile)(commandLine, ['plan', ...args], { env, cwd: folder })).stdout

type Plan = {
  readonly met: boolean
  readonly waits: readonly { readonly lane: string; readonly captures: number }[]
  readonly service: { readonly mean_seconds: number; readonly measured: boolean }
  readonly pods: { readonly mean: number; readonly most: number }
  readonly cores: { readonly mean: number }
  readonly memory_mib: { readonly mean: number }
  readonly per_thousand_captures: { readonly pod_hours: number; readonly cost: number | null }
  readonly autoscaling: Readonly<Record<string, number>>
  readonly series: readonly { readonly at_seconds: number; readonly pods: number }[]
}

t.test('plan: a rate takes pods, processor, memory and money', async (t) => {
  const given = ['--rate', '300/min', '--service', '2s', '--slots', '2', '--pod-hour', '0.1', '--json']
  const result = await readDocument<Plan>(['plan'], await plan(...given))
  t.ok(result.met)
  t.match(result.waits, [{ lane: 'interactive' }])
  t.strictSame(result.service, { mean_seconds: 2, measured: false })
  const { mean } = result.pods
  t.ok(mean > 5 && mean < 12, `${mean} pods of two slots for ten busy slots`)
  t.equal(result.cores.mean, mean, 'half a core for each slot')
  t.equal(Math.round(result.memory_mib.mean), Math.round(mean * 1100))
  const { pod_hours: hours, cost } = result.per_thousand_captures
  t.ok(Math.abs((cost ?? 0) - hours * 0.1) < 1e-9)
  t.match(result.autoscaling, { minReplicas: 1, maxReplicas: result.pods.most, slots: 2, queueWaitMs: 2000 })
  t.match(result.series[0], { at_seconds: 0 })
})

t.test(
  'plan: a trace that states its times needs no installation, and a worker what it is stated to reserve',
  async (t) => {
    const given = ['--trace', 'timed.csv', '--lane', 'bulk', '--pod-cpu', '2', '--pod-memory', '1Gi', '--json']
    const result = await readDocument<Plan>(['plan'], await plan(...given))
    t.strictSame(result.service, { mean_seconds: 3, measured: false })
    t.equal(result.cores.mean, result.pods.mean * 2)
    t.equal(result.memory_mib.mean, result.pods.mean * 1024)
  },
)

t.test('plan: prints the waits, the workers and a plot', async (t) => {
  const text = await plan('--trace', 'trace.csv', '--service', '1s', '--p95-wait', '20s')
  t.match(text, /^95 % of the captures in lane interactive wait at most 20 s\.$/m)
  t.match(text, /^bulk +1 /m)
  t.match(text, /^PODS +[▁▂▃▄▅▆▇█]/m)
  t.match(text, /^autoscaling: \{ minReplicas: 1, maxReplicas: \d+, slots: 1, queueWaitMs: 20000, /m)
  t.match(text, /take [\d.]+ pod-hours and [\d.]+ core-hours\.$/m, 'no cost without a price')
})

t.test('plan: what is wrong with a flag is said with its bound', async (t) => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /give either --rate or --trace/],
    [['--rate', '1/s', '--trace', 'trace.csv'], /give either --rate or --trace/],
    [['--rate', 'fast'], /--rate fast: must be captures in a time/],
    [['--rate', '900/s', '--service', '2s'], /--rate 900\/s: keeps 1800 slots busy; a pool has at most 1000 workers/],
    [['--trace', 'timed.csv'], /--lane interactive: the trace has no capture of it/],
    [['--trace', 'none.csv'], /--trace none\.csv: cannot be read \(ENOENT\)/],
    [['--rate', '1/s', '--service', '11m'], /--service 11m: must be at most 600s/],
    [['--rate', '1/s', '--p95-wait', '2h', '--lane', 'bulk'], /--p95-wait 2h: must be at most 3600s/],
    [['--rate', '1/s', '--lane', 'fast'], /--lane fast: must be one of interactive, normal, bulk/],
    [['--rate', '1/s', '--slots', '17'], /--slots 17: must be a whole number from 1 to 16/],
    [['--rate', '1/s', '--service', '1s', '--pod-cpu', '0'], /--pod-cpu 0: must be a quantity such as 500m or 2/],
    [['--rate', '1/s', '--service', '1s', '--pod-memory', '1G'], /--pod-memory 1G: must be a quantity such as 700Mi/],
    [['--rate', '1/s', '--service', '1s', '--pod-hour', 'x'], /--pod-hour x: must be a price such as 0\.04/],
  ]
  for (const [args, message] of cases) await t.rejects(plan(...args), { code: 2, stderr: message }, args.join(' '))
  const missing = plan('--rate', '1/s', '--data', join(folder, 'none'))
  await t.rejects(missing, {
    code: 1,
    stderr: /no installation is running in .*, or state the time of a capture with --service/,
  })
})
