// Runs the real system under seeded faults; scripts/run-chaos.sh gives it namespaces and a folder of its own.
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect, parseArgs } from 'node:util'
import { inShard } from '#test/helpers/in-shard.ts'
import { check } from './check.ts'
import { cleanLimits, cleanRun } from './clean-run.ts'
import { type FailoverResult, measureFailovers } from './failovers.ts'
import { faults } from './faults.ts'
import { type Kill, measureKills } from './kills.ts'
import { type Plan, planRepresentative, planRun } from './plan.ts'
import { type Ran, runPlan } from './run-plan.ts'
import { startWorld, type World, type WorldKind } from './world.ts'

/** Hard limit of a run, its start of the system included. */
const runMs = 300_000
/** Longest duration of a fault that `--seconds` may choose; a run has to end within `runMs`. */
const faultMsMax = 60_000
/** Longest time of a capture in which a process is killed. */
const killMs = 15_000
/** Runs that share an installation. */
const worldRuns = 15

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: '' },
    runs: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    fault: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    'until-failure': { type: 'boolean', default: false },
  },
})
const runsFolder = join(import.meta.dirname, '../../.tools/chaos')

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

const describe = ({ world, faults: planned }: Plan): string =>
  `${world}: ${planned.map(({ name, forMs }) => (forMs > 0 ? `${name} ${seconds(forMs)}` : name)).join(' + ') || 'no fault'}`

/** A shard of the runs in which each fault happens once, or the given seeds. */
const plans = (): readonly Plan[] => {
  const seed = Number(values.seed)
  const forMs = values.seconds === undefined ? undefined : Number(values.seconds) * 1000
  if (forMs !== undefined && !(forMs > 0 && forMs <= faultMsMax))
    throw new RangeError('--seconds must be above 0, at most 60')
  if (positionals[0] === 'representative') return inShard(planRepresentative(seed))
  return Array.from({ length: Number(values.runs) }, (_, index) => planRun(seed + index, { only: values.fault, forMs }))
}

/** Copies the logs of an installation; returns where they are, or why they could not be copied. */
const copyLogs = async (dataDir: string, { seed }: Plan): Promise<string> => {
  const logs = join(runsFolder, `${seed}-logs`)
  return cp(join(dataDir, 'logs'), logs, { recursive: true }).then(() => logs, String)
}

const report = async (
  world: World,
  { plan, verdict: { violations, captures, late, recoveryMs }, ...recorded }: Ran,
) => {
  const name = `seed ${plan.seed}`.padEnd(10)
  console.log(
    `${name} ${describe(plan).padEnd(58)} ${captures} captures, ${late} late, ${violations.length} violations, recovery ${seconds(recoveryMs)}`,
  )
  if (violations.length === 0) return
  for (const { invariant, what } of violations) console.log(`           ${invariant}: ${what}`)
  await mkdir(runsFolder, { recursive: true })
  const path = join(runsFolder, `${plan.seed}.json`)
  await writeFile(path, JSON.stringify({ plan, violations, ...recorded }, null, 1))
  console.log(`           history: ${path}, logs: ${await copyLogs(world.dataDir, plan)}`)
}

const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

/** A row for each fault: runs with it (a pair counts for both), those with violations, and the recovery. */
const summary = (ended: readonly Ran[]): string => {
  const rows = Object.keys(faults).flatMap((name) => {
    const runs = ended.filter(({ plan }) => plan.faults.some((fault) => fault.name === name))
    if (runs.length === 0) return []
    const failed = runs.filter(({ verdict }) => verdict.violations.length > 0).length
    const recoveries = runs.map(({ verdict }) => verdict.recoveryMs).toSorted((one, other) => one - other)
    const [median, worst] = [quantile(recoveries, 0.5), quantile(recoveries, 1)].map(seconds)
    return [`| ${name} | ${runs.length} | ${failed} | ${median} | ${worst} |`]
  })
  return ['| Fault | Runs | With violations | Recovery, median | Worst |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** Keeps one installation for runs in the same world; a violation or an error ends it. */
const createWorlds = (folder: string) => {
  let current: World | undefined
  let started = 0
  let left = 0
  const end = async () => {
    const ending = current
    current = undefined
    try {
      await ending?.[Symbol.asyncDispose]()
    } catch (error) {
      console.error(error)
    }
  }
  return {
    end,
    /** Where the installation that was started last keeps its data. */
    dataDir: () => join(folder, String(started), 'data'),
    obtain: async (kind: WorldKind): Promise<World> => {
      if (current?.kind !== kind || left === 0) {
        await end()
        left = worldRuns
        const start = () => startWorld(join(folder, String((started += 1))), kind)
        // Before any fault, on a busy machine, three NATS servers that form a cluster may answer a service too late.
        current = await start().catch((error: unknown) => {
          console.error(error)
          return start()
        })
      }
      left -= 1
      return current
    },
  }
}

const runAll = async (): Promise<boolean> => {
  const worlds = createWorlds(values.folder)
  const ended: Ran[] = []
  const failed: string[] = []
  for (const plan of plans()) {
    try {
      const late = delay(runMs, undefined, { ref: false }).then(() => Promise.reject(new Error('run took too long')))
      const world = await Promise.race([worlds.obtain(plan.world), late])
      const ran = await Promise.race([runPlan(world, plan), late])
      await report(world, ran)
      ended.push(ran)
      if (ran.verdict.violations.length === 0) continue
      failed.push(`seed ${plan.seed} ${describe(plan)}: ${ran.verdict.violations.map(({ what }) => what).join('; ')}`)
    } catch (error) {
      failed.push(
        `seed ${plan.seed} ${describe(plan)}: did not finish: ${inspect(error)}; logs: ${await copyLogs(worlds.dataDir(), plan)}`,
      )
    }
    await worlds.end()
    if (values['until-failure']) break
  }
  await worlds.end()
  console.log(summary(ended))
  console.log([`${ended.length} runs ended, ${failed.length} failed`, ...failed].join('\n'))
  return failed.length === 0
}

/** Times the checker on the history of 100,000 captures. */
const measure = (): boolean => {
  const { history, snapshot } = cleanRun(100_000)
  const beganMs = performance.now()
  const { violations, captures } = check(history, snapshot, cleanLimits)
  console.log(`${captures} captures, ${history.length} events: ${seconds(performance.now() - beganMs)}`)
  return violations.length === 0
}

/** Times captures, one a second, while each process is killed once a run, or the one of `--fault` only. */
const timeKills = async (): Promise<boolean> => {
  const kills: Kill[] = []
  await using world = await startWorld(join(values.folder, 'kills'), 'files')
  const names = values.fault?.map((fault) => fault.replace(/^kill /, ''))
  await measureKills(world, { rounds: Number(values.runs), names }, (kill) => {
    console.log(`kill ${kill.name}: ${seconds(kill.worstMs)}, ${kill.failed} failed`)
    kills.push(kill)
  })
  console.log('| Killed | Kills | Captures that failed | Longest capture, median | Worst |\n|---|---|---|---|---|')
  for (const [name, all] of Map.groupBy(kills, (kill) => kill.name)) {
    const sorted = all.map(({ worstMs }) => worstMs).toSorted((one, other) => one - other)
    const failed = all.reduce((sum, kill) => sum + kill.failed, 0)
    console.log(
      `| ${name} | ${all.length} | ${failed} | ${seconds(quantile(sorted, 0.5))} | ${seconds(quantile(sorted, 1))} |`,
    )
  }
  return kills.every(({ worstMs, failed }) => worstMs <= killMs && failed === 0)
}

/** Times failovers of PostgreSQL to its synchronous replica under load. */
const timeFailovers = async (): Promise<boolean> => {
  const results: FailoverResult[] = []
  await using world = await startWorld(join(values.folder, 'failovers'), 'replicated')
  await measureFailovers(world, Number(values.runs), (result) => {
    console.log(`no accept for ${seconds(result.withoutAcceptMs)}, ${result.lost} of ${result.accepted} lost`)
    results.push(result)
  })
  const row = (name: string, ms: (result: FailoverResult) => number) => {
    const sorted = results.map(ms).toSorted((one, other) => one - other)
    return `| ${name} | ${seconds(quantile(sorted, 0.5))} | ${seconds(quantile(sorted, 1))} |`
  }
  const [accepted, lost] = (['accepted', 'lost'] as const).map((name) =>
    results.reduce((sum, each) => sum + each[name], 0),
  )
  console.log(
    [
      `${results.length} failovers, ${accepted} captures accepted, ${lost} lost`,
      '| | Median | Worst |\n|---|---|---|',
      row('without an accept', ({ withoutAcceptMs }) => withoutAcceptMs),
      row('without a list', ({ withoutListMs }) => withoutListMs),
      row('kill to promoted', ({ promotionMs }) => promotionMs),
      row('kill to reads from a new replica', ({ replicaMs }) => replicaMs),
    ].join('\n'),
  )
  return lost === 0
}

const modes: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  measure,
  kills: timeKills,
  failovers: timeFailovers,
}
process.exitCode = (await (modes[positionals[0] ?? ''] ?? runAll)()) ? 0 : 1
