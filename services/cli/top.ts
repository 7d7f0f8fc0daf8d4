import { lanes } from '#shared/capture/lane.ts'
import { readEnv } from '#shared/config/read-env.ts'
import { databasePasswordSettings } from '#shared/config/settings/outside.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { passwordSource } from '#shared/db/password.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagText,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { findDataFolder, givenDirectUrl, runningInstallation } from './installation.ts'
import { draw } from './top/draw.ts'
import { refresh } from './top/refresh.ts'
import { type Snapshot, type Sources, takeSnapshot, windowSeconds } from './top/snapshot.ts'

const statementMs = 3000
const [shortestMs, longestMs] = [1000, 60_000]
/** Width if the output is not a terminal. */
const plainColumns = 120

const readInterval = (args: ParsedArgs): number => {
  const text = flagText(args, 'interval') ?? '2s'
  const ms = readDuration('interval', text)
  if (ms < shortestMs || ms > longestMs) throw new UsageError(`--interval ${text}: must be from 1s to 1m`)
  return ms
}

const readMetricsUrl = (args: ParsedArgs): string | undefined => {
  const url = flagText(args, 'metrics')
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new UsageError(`--metrics ${url}: must be an address such as http://127.0.0.1:9090/metrics`)
}

/** URLs from flag and environment, else of the installation on the data folder. Throws `SERVICE_UNAVAILABLE` if there are neither. */
const findAddresses = async ({ env }: CommandContext, args: ParsedArgs) => {
  const metricsUrl = readMetricsUrl(args)
  const databaseUrl = givenDirectUrl(env)
  const isRemote = metricsUrl !== undefined || (databaseUrl !== undefined && flagText(args, 'data') === undefined)
  if (isRemote)
    return { source: metricsUrl ? new URL(metricsUrl).host : 'database', databaseUrl, controllerUrl: metricsUrl }
  const folder = findDataFolder(env, args)
  const local = await runningInstallation(folder, ', or give --metrics URL and set SHUTTERFLEET_DATABASE_URL')
  const controllerUrl = local.services.find(({ name }) => name === 'controller')?.metrics_url ?? undefined
  return { source: local.base_url, databaseUrl: local.database_url, controllerUrl }
}

const inSeconds = (times: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(times).map(([lane, ms]) => [lane, ms / 1000]))

const toJson = ({ at, pools, captures }: Snapshot) => ({
  at: at.toISOString(),
  window_seconds: windowSeconds,
  pools:
    typeof pools === 'string'
      ? null
      : pools.map(({ objectivesMs, ...pool }) => ({ ...pool, objective_seconds: inSeconds(objectivesMs) })),
  ...(typeof captures === 'string'
    ? { queues: null, stages: null, slowest_stage: null, errors: null, pauses: null }
    : {
        queues: captures.queues.map(({ oldestMs, lanes: counts, ...queue }) => ({
          ...queue,
          oldest_seconds: oldestMs / 1000,
          lanes: lanes.map((lane) => {
            const { pending, processing, oldestMs: laneOldestMs } = counts[lane]
            return { lane, pending, processing, oldest_seconds: laneOldestMs / 1000 }
          }),
        })),
        stages: captures.stages.map(({ stage, p50Ms, p95Ms }) => ({ stage, p50_ms: p50Ms, p95_ms: p95Ms })),
        slowest_stage: captures.stages[0]?.stage ?? null,
        pauses: captures.pauses,
        errors: captures.failures.map(({ id, host = null, ...failure }) => ({
          screenshot_id: id,
          ...failure,
          host,
        })),
      }),
  unread: [pools, captures].filter((part) => typeof part === 'string'),
})

const show = async (context: CommandContext, args: ParsedArgs, sources: Sources): Promise<void> => {
  const { terminal, env, stop, print } = context
  const isLive = terminal !== undefined && !args.flags['once'] && !args.flags['json']
  if (!isLive) {
    const snapshot = await takeSnapshot(sources, new Date())
    const columns = terminal?.size().columns ?? plainColumns
    return print({ json: toJson(snapshot), text: draw(snapshot, { columns, colour: false }).join('\n') })
  }
  // https://no-color.org
  const colour = !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const frame = async (size: { readonly columns: number; readonly rows: number }) =>
    draw(await takeSnapshot(sources, new Date()), { ...size, colour })
  await refresh(terminal, frame, { everyMs: readInterval(args), stop })
}

/** `top`: shows pools, queues, rates, the slowest stages and the last errors, refreshed in place until Ctrl-C. */
export const top: Command = {
  usage: 'top [--once] [--interval 2s] [--metrics URL] [--data DIR]',
  summary: 'shows pools, queues, rates, the slowest stages and the last errors, refreshed in place',
  json: '{ at, window_seconds, pools: [{ … }], queues: [{ … }], stages: [{ stage, p50_ms, p95_ms }], slowest_stage, errors: [{ screenshot_id, at, queue, code, message, host }], pauses: [{ pool, since, by, reason, until, state }], unread }; a part that was not read is null, with the reason in unread',
  flags: {
    once: { type: 'boolean', help: 'print once and exit, the default if the output is not a terminal' },
    interval: { type: 'string', value: '2s', help: 'time between two refreshes, from 1s to 1m (default 2s)' },
    metrics: {
      type: 'string',
      value: 'URL',
      help: "metrics URL of the leading controller of another installation; also needs that installation's SHUTTERFLEET_DATABASE_URL",
    },
    data: dataFlag,
  },
  run: async (context, args) => {
    readInterval(args)
    const { source, databaseUrl, controllerUrl } = await findAddresses(context, args)
    const password = passwordSource(readEnv(databasePasswordSettings, context.env))
    await using database =
      databaseUrl === undefined ? undefined : openDatabase({ url: databaseUrl, password, poolMax: 4, statementMs })
    await show(context, args, { source, database, controllerUrl, stop: context.stop })
  },
}
