import { type Lane, lanes } from '#shared/capture/lane.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { laneObjectivesMs, lowerQueueWait, normalWaitMs, queueWait } from '#shared/policy/lane-objectives.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagCount,
  flagText,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { readText } from './command/read-text.ts'
import { findSize } from './plan/find-size.ts'
import type { Load } from './simulation/forecast.ts'
import { loadOfRate, loadOfTrace, meanOf, parseRate, parseTrace, type Services } from './plan/load.ts'
import { type Question, toJson, toText } from './plan/show.ts'
import { slotsMax, workersMax } from '#shared/kube/browser-pool.ts'
import { workerRequests } from '#shared/kube/worker-requests.ts'
import { withDatabase } from './with-database.ts'

/** Longest service and start. */
const timeMaxMs = 600_000
/** Newest captures whose times are taken as the service times. */
const measuredMax = 2000

const newest = readStatement(import.meta.dirname, 'plan/sql/newest-services.sql')

const readBounded = (args: ParsedArgs, flag: string, fallback: string, mostMs: number): number => {
  const text = flagText(args, flag) ?? fallback
  const ms = readDuration(flag, text)
  if (ms <= mostMs) return ms
  throw new UsageError(`--${flag} ${text}: must be at most ${mostMs / 1000}s`)
}

const readLane = (args: ParsedArgs): Lane => {
  const name = flagText(args, 'lane') ?? 'interactive'
  const lane = lanes.find((each) => each === name)
  if (lane) return lane
  throw new UsageError(`--lane ${name}: must be one of ${lanes.join(', ')}`)
}

/** The objectives of a BrowserPool with `waitMs` for a lane: none is longer than that of a lower lane. */
const objectivesWith = (lane: Lane, waitMs: number) => {
  const queueWaitMs = Math.min(waitMs, queueWait.default)
  if (lane === 'interactive') return laneObjectivesMs({ queueWaitMs: waitMs })
  if (lane === 'normal') return laneObjectivesMs({ queueWaitMs, normalQueueWaitMs: waitMs })
  const normalQueueWaitMs = Math.min(waitMs, normalWaitMs)
  return laneObjectivesMs({ queueWaitMs, normalQueueWaitMs, bulkQueueWaitMs: waitMs })
}

const readPrice = (args: ParsedArgs): number | undefined => {
  const text = flagText(args, 'pod-hour')
  if (text === undefined || /^\d{1,6}(\.\d{1,6})?$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new UsageError(`--pod-hour ${text}: must be a price such as 0.04`)
}

const quantity = (args: ParsedArgs, flag: string, form: RegExp, example: string): [number, string] | undefined => {
  const text = flagText(args, flag)
  if (text === undefined) return undefined
  const [, count = '', unit = ''] = form.exec(text) ?? []
  if (Number(count) > 0) return [Number(count), unit]
  throw new UsageError(`--${flag} ${text}: must be a quantity such as ${example}`)
}

/** What a worker reserves: as stated, else as a BrowserPool by default. */
const readRequests = (args: ParsedArgs, slots: number) => {
  const { milliCores, mebibytes } = workerRequests(slots)
  const cpu = quantity(args, 'pod-cpu', /^(\d{1,6}(?:\.\d{1,3})?)(m?)$/, '500m or 2')
  const memory = quantity(args, 'pod-memory', /^(\d{1,9}(?:\.\d{1,3})?)(Mi|Gi)$/, '700Mi or 2Gi')
  return {
    milliCores: cpu ? cpu[0] * (cpu[1] === 'm' ? 1 : 1000) : milliCores,
    mebibytes: memory ? memory[0] * (memory[1] === 'Gi' ? 1024 : 1) : mebibytes,
  }
}

/** The stated time, or those of the newest captures that completed in the installation. */
const readServices = async ({ env }: CommandContext, args: ParsedArgs): Promise<Services> => {
  if (flagText(args, 'service') !== undefined) return readBounded(args, 'service', '', timeMaxMs)
  const read = withDatabase(env, args, (database) => database.query<{ ms: number }>(newest, [measuredMax]))
  const rows = await read.catch((error: unknown) => {
    const { code, message } = toAppError(error)
    throw new AppError(code, { publicMessage: `${message}, or state the time of a capture with --service` })
  })
  if (rows.length > 0) return rows.map(({ ms }) => ms)
  throw new UsageError('--service is missing: the installation has completed no capture in the last 30 days')
}

const readLoad = async (
  { input }: CommandContext,
  args: ParsedArgs,
  { lane, slots }: { readonly lane: Lane; readonly slots: number },
): Promise<{ readonly loadOf: (service: Services) => Load; readonly times?: Services }> => {
  const [rate, path] = [flagText(args, 'rate'), flagText(args, 'trace')]
  if (rate !== undefined && path === undefined) {
    const perSecond = parseRate(rate)
    const loadOf = (service: Services) => {
      const busy = Math.ceil((perSecond * meanOf(service)) / 1000)
      if (busy <= workersMax * slots) return loadOfRate({ perSecond, lane, service })
      const most = `a pool has at most ${workersMax} workers, here of ${slots}`
      throw new UsageError(`--rate ${rate}: keeps ${busy} slots busy; ${most}`)
    }
    return { loadOf }
  }
  if (path === undefined || rate !== undefined) throw new UsageError('give either --rate or --trace')
  const trace = parseTrace(await readText('trace', path, input), lane)
  if (!trace.some((line) => line.lane === lane)) throw new UsageError(`--lane ${lane}: the trace has no capture of it`)
  const times = trace.flatMap(({ serviceMs }) => serviceMs ?? [])
  return { loadOf: (service) => loadOfTrace(trace, service), ...(times.length === trace.length && { times }) }
}

/** `plan`: simulates the controller's law on a load, and prints the workers that it takes. */
export const plan: Command = {
  usage:
    'plan [--rate 50/s] [--trace FILE] [--p95-wait 2s] [--lane interactive] [--service 2s] [--start 8s] [--slots N] [--pod-cpu 500m] [--pod-memory 700Mi] [--pod-hour PRICE] [--data DIR]',
  summary: 'says what a load needs: pods, processor, memory and cost, by simulating the control law',
  json: '{ met, waits: [{ lane, captures, objective_seconds, p50_seconds, p95_seconds, p99_seconds }], p95_seconds_without_minimum, unbegun, service: { mean_seconds, measured }, pods: { mean, most }, cores: { mean, most }, memory_mib: { mean, most }, per_thousand_captures: { pod_hours, core_hours, cost }, autoscaling: { … }, series: [{ at_seconds, pods, captures }] }; autoscaling are settings of a BrowserPool, cost is null without --pod-hour',
  flags: {
    rate: { type: 'string', value: '50/s', help: 'captures in a time, such as 50/s, 3000/min or 100000/h' },
    trace: {
      type: 'string',
      value: 'FILE',
      help: 'captures of a file instead, one per line: seconds since the start[,lane[,seconds in its worker]]; - for standard input',
    },
    'p95-wait': {
      type: 'string',
      value: '2s',
      help: "how long 95 % of the lane's captures may wait for a worker, which becomes its objective (default: that of a BrowserPool)",
    },
    lane: {
      type: 'string',
      value: 'interactive',
      help: 'the lane of the captures: interactive, normal or bulk (default interactive)',
    },
    service: {
      type: 'string',
      value: '2s',
      help: 'mean time of a capture in its worker (default: measured, of the newest 2000 of the installation)',
    },
    start: { type: 'string', value: '8s', help: 'mean time until a requested worker is ready (default 8s)' },
    slots: { type: 'string', value: 'N', help: 'captures that a worker serves at a time, from 1 to 16 (default 1)' },
    'pod-cpu': {
      type: 'string',
      value: 'QUANTITY',
      help: 'processor that a worker reserves, such as 500m or 2 (default: that of a BrowserPool)',
    },
    'pod-memory': {
      type: 'string',
      value: 'QUANTITY',
      help: 'memory that a worker reserves, such as 700Mi or 2Gi (default: that of a BrowserPool)',
    },
    'pod-hour': { type: 'string', value: 'PRICE', help: 'price of a worker for an hour, in any currency' },
    data: dataFlag,
  },
  run: async (context, args) => {
    const lane = readLane(args)
    const fallback = laneObjectivesMs({ queueWaitMs: queueWait.default })[lane]
    const { maximum } = lane === 'interactive' ? queueWait : lowerQueueWait
    const waitMs = readBounded(args, 'p95-wait', `${fallback / 1000}s`, maximum)
    const startMs = readBounded(args, 'start', '8s', timeMaxMs)
    const slots = flagCount(args, 'slots', { min: 1, max: slotsMax, fallback: 1 })
    const hourPrice = readPrice(args)
    const { loadOf, times } = await readLoad(context, args, { lane, slots })
    const services = times ?? (await readServices(context, args))
    const question: Question = {
      lane,
      waitMs,
      serviceMs: meanOf(services),
      isMeasured: times === undefined && typeof services !== 'number',
      hourPrice,
      requests: readRequests(args, slots),
    }
    const workers = { least: 1, slots, startMs, objectivesMs: objectivesWith(lane, waitMs) }
    const result = toJson(findSize(loadOf(services), workers, { lane, waitMs }), question)
    context.print({ json: result, text: toText(result, question) })
  },
}
