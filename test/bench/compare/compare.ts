import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startLoadProcess } from '#test/bench/load-from-process.ts'
import { type Comparison, compareRounds } from './interval.ts'
import type { Effort } from './parts.ts'
import { measureRound, type Pair, type Round } from './round.ts'
import { createSide } from './side.ts'

/** What is compared. */
export type Plan = {
  /** The folders of base and of the version under test. */
  readonly trees: Pair<string>
  readonly parts: readonly string[]
  readonly limitMs: number
  readonly roundsMin: number
  readonly effort: Effort
}

/** A measure: geometric means of both versions, and what the rounds say of their ratio. */
export type Measure = { readonly name: string; readonly means: Pair<number>; readonly comparison: Comparison }

/** How much each block does: a few seconds, so that there is time for many rounds. */
export const effort: Effort = { loadSeconds: 1.5, captures: 10, idleMs: 4000 }

/** With fewer rounds the interval is too wide to show anything. */
export const roundsMin = 8

/** The share of comparisons of two equal versions in which any measure may be called different. */
const familyError = 0.01
const accounts = 4

/** Measures rounds until the time is up, at least `roundsMin`. */
export const collectRounds = async (plan: Plan): Promise<Round[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-compare-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const site = opened.use(await serveFolder(resolve(import.meta.dirname, '../../fixtures/site')))
  const load = opened.use(startLoadProcess())
  const sideOf = async (tree: string, name: string) => {
    await mkdir(join(folder, name))
    return await createSide(tree, join(folder, name), { accounts, args: ['--allow-target', site.host] })
  }
  const sides = [await sideOf(plan.trees[0], 'base'), await sideOf(plan.trees[1], 'work')] as const
  const surroundings = { effort: plan.effort, pageUrl: `http://${site.host}/index.html`, load }
  const rounds: Round[] = []
  const end = performance.now() + plan.limitMs
  for (let longestMs = 0; rounds.length < plan.roundsMin || performance.now() + longestMs < end;) {
    const began = performance.now()
    rounds.push(await measureRound(sides, plan.parts, surroundings, rounds.length))
    longestMs = Math.max(longestMs, performance.now() - began)
  }
  return rounds
}

/** What rounds say of each measure. */
export const summarize = (rounds: readonly Round[]): Measure[] => {
  const names = [...(rounds[0]?.keys() ?? [])]
  return names.map((name) => {
    const pairs = rounds.map((round) => round.get(name) ?? ([Number.NaN, Number.NaN] as const))
    const logRatios = pairs.map(([base, work]) => Math.log(work / base))
    const mean = (side: 0 | 1) => Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair[side]), 0) / pairs.length)
    return { name, means: [mean(0), mean(1)], comparison: compareRounds(logRatios, familyError / names.length) }
  })
}
