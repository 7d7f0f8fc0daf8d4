import { table } from '#cli/command/table.ts'
import { workersMax } from '#shared/kube/browser-pool.ts'
import { warmUpMs } from '#cli/simulation/simulate.ts'
import type { Lane } from '#shared/capture/lane.ts'
import type { Size } from './find-size.ts'

/** What was asked for: p95 of the waits of `lane` is at most `waitMs`; `hourPrice` is that of a worker. */
export type Question = {
  readonly lane: Lane
  readonly waitMs: number
  readonly serviceMs: number
  readonly isMeasured: boolean
  readonly hourPrice: number | undefined
  /** What a worker reserves. */
  readonly requests: { readonly milliCores: number; readonly mebibytes: number }
}

/** The result as JSON: all times in seconds, memory in MiB; `cost` is null without the price of a worker, a wait if most never begin. */
export const toJson = ({ workers, forecast, isMet, firstP95Ms }: Size, question: Question) => {
  const { waits, meanWorkers, mostWorkers, workerHours, unbegun, series } = forecast
  const captures = waits.reduce((sum, each) => sum + each.captures, 0)
  const thousandth = (total: number) => (captures === 0 ? 0 : (total * 1000) / captures)
  const { hourPrice, requests } = question
  const { milliCores, mebibytes } = requests
  return {
    met: isMet,
    waits: waits.map(({ lane, captures: count, p50Ms, p95Ms, p99Ms }) => ({
      lane,
      captures: count,
      objective_seconds: workers.objectivesMs[lane] / 1000,
      p50_seconds: p50Ms / 1000,
      p95_seconds: p95Ms / 1000,
      p99_seconds: p99Ms / 1000,
    })),
    p95_seconds_without_minimum: Number.isFinite(firstP95Ms) ? firstP95Ms / 1000 : null,
    unbegun,
    service: { mean_seconds: question.serviceMs / 1000, measured: question.isMeasured },
    pods: { mean: meanWorkers, most: mostWorkers },
    cores: { mean: (meanWorkers * milliCores) / 1000, most: (mostWorkers * milliCores) / 1000 },
    memory_mib: { mean: meanWorkers * mebibytes, most: mostWorkers * mebibytes },
    per_thousand_captures: {
      pod_hours: thousandth(workerHours),
      core_hours: thousandth((workerHours * milliCores) / 1000),
      cost: hourPrice === undefined ? null : thousandth(workerHours * hourPrice),
    },
    autoscaling: {
      minReplicas: workers.least,
      maxReplicas: mostWorkers,
      slots: workers.slots,
      queueWaitMs: workers.objectivesMs.interactive,
      normalQueueWaitMs: workers.objectivesMs.normal,
      bulkQueueWaitMs: workers.objectivesMs.bulk,
    },
    series: series.map(({ atMs, pods, known }) => ({ at_seconds: (atMs - warmUpMs) / 1000, pods, captures: known })),
  }
}

type Plan = ReturnType<typeof toJson>

const plotColumns = 60
const levels = ' ▁▂▃▄▅▆▇█'

/** A line of a plot: the largest value of each part of the time, as a share of `most`. */
const plotLine = (values: readonly number[], most: number): string => {
  const columns = Math.min(plotColumns, values.length)
  return Array.from({ length: columns }, (_, column) => {
    const [from, to] = [column, column + 1].map((each) => Math.floor((each * values.length) / columns))
    return levels.charAt(Math.ceil((Math.max(...values.slice(from, to)) / most) * (levels.length - 1)))
  }).join('')
}

const plot = ({ series }: Plan): string => {
  const most = Math.max(1, ...series.flatMap(({ pods, captures }) => [pods, captures]))
  const minutes = Math.ceil((series.at(-1)?.at_seconds ?? 0) / 60)
  return [
    `PODS      ${plotLine(
      series.map(({ pods }) => pods),
      most,
    )}`,
    `CAPTURES  ${plotLine(
      series.map(({ captures }) => captures),
      most,
    )}  that wait or run`,
    `          0 to ${minutes} min; full height: ${most}`,
  ].join('\n')
}

const fixed = (value: number, digits: number) => value.toFixed(digits)

const verdict = (plan: Plan, { lane, waitMs }: Question): string => {
  const wanted = `95 % of the captures in lane ${lane} wait at most ${waitMs / 1000} s`
  const first = plan.p95_seconds_without_minimum
  if (first === null)
    return `Too much for a pool of ${workersMax} workers: ${plan.unbegun} captures had not begun at the end.`
  if (!plan.met) return `Not met by any minimum of workers: ${wanted}. With a minimum of 1 it is ${fixed(first, 1)} s.`
  if (plan.autoscaling.minReplicas === 1) return `${wanted}.`
  return `With minReplicas ${plan.autoscaling.minReplicas}, ${wanted}; with a minimum of 1 it would be ${fixed(first, 1)} s.`
}

/** The result as text: waits, workers, cost and a plot. */
export const toText = (plan: Plan, question: Question): string => {
  const { pods, cores, memory_mib: memory, per_thousand_captures: each, autoscaling, service } = plan
  const settings = Object.entries(autoscaling).map(([name, value]) => `${name}: ${value}`)
  const cost = each.cost === null ? '' : `, and cost ${fixed(each.cost, 3)}`
  return [
    verdict(plan, question),
    table([
      ['LANE', 'CAPTURES', 'P50', 'P95', 'P99', 'OBJECTIVE'],
      ...plan.waits.map((wait) => [
        wait.lane,
        String(wait.captures),
        ...[wait.p50_seconds, wait.p95_seconds, wait.p99_seconds].map((seconds) => `${fixed(seconds, 1)} s`),
        `${wait.objective_seconds} s`,
      ]),
    ]),
    table([
      ['', 'MEAN', 'MOST'],
      ['pods', fixed(pods.mean, 1), String(pods.most)],
      ['cores', fixed(cores.mean, 1), fixed(cores.most, 1)],
      ['memory', `${fixed(memory.mean / 1024, 1)} GiB`, `${fixed(memory.most / 1024, 1)} GiB`],
    ]),
    `1000 captures of ${fixed(service.mean_seconds, 2)} s (${service.measured ? 'measured' : 'stated'}) take ${fixed(each.pod_hours, 2)} pod-hours and ${fixed(each.core_hours, 2)} core-hours${cost}.`,
    plot(plan),
    `autoscaling: { ${settings.join(', ')} }`,
  ].join('\n\n')
}
