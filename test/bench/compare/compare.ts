import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { type Comparison, compareRounds } from './interval.ts'
import type { Workload, Surroundings } from './parts.ts'
import { type Pair, swap } from './pair.ts'
import { measureRound, type Round } from './round.ts'
import { createSide, type Side } from './side.ts'
import { temporaryFolder } from './on-end.ts'

/** A measure: geometric means of both versions, and what the rounds say of their ratio. */
export type Measure = { readonly name: string; readonly means: Pair<number>; readonly comparison: Comparison }

// A few seconds each, so that there is time for many rounds.
const workload: Workload = {
  warmSeconds: 3,
  loadSeconds: 5,
  captures: 20,
  idleMs: 8000,
  flow: { turns: 3, captures: 80 },
}

const roundsMin = 10
/** Most rounds that are measured again, because a start or a request failed. */
const repeatsMax = 3

/** The share of comparisons of two equal versions in which any measure may be called different. */
const familyError = 0.01
const accounts = 4

/** Two versions that are ready to be started, and what loads them. */
export type Opened = AsyncDisposable & {
  readonly sides: Pair<Side>
  readonly surroundings: Surroundings
}

/** Prepares the versions in the folders of base and of the version under test. */
export const openSides = async (trees: Pair<string>): Promise<Opened> => {
  await using opened = new AsyncDisposableStack()
  const folder = temporaryFolder('shutterfleet-compare-')
  const site = opened.use(await serveFolder(resolve(import.meta.dirname, '../../fixtures/site')))
  const sideOf = async (tree: string, name: string) => {
    await mkdir(join(folder, name))
    return await createSide(tree, join(folder, name), { accounts, args: ['--allow-target', site.host] })
  }
  const sides = [await sideOf(trees[0], 'base'), await sideOf(trees[1], 'work')] as const
  const owned = opened.move()
  return {
    sides,
    surroundings: { workload, pageUrl: `http://${site.host}/index.html` },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Measures one round; every second one with the version under test first: the later of two equal ones needs about 1 % less. */
const measureNth = async (nth: number, { sides, surroundings }: Opened, parts: readonly string[]): Promise<Round> => {
  if (nth % 2 === 0) return await measureRound(sides, parts, surroundings)
  const round = await measureRound(swap(sides), parts, surroundings)
  return new Map([...round].map(([name, values]) => [name, swap(values)]))
}

/**
 * Measures rounds until the time is up, at least 10: with fewer the interval is too wide to show anything. Throws if more than 3
 * fail.
 */
export const collectRounds = async (opened: Opened, parts: readonly string[], limitMs: number): Promise<Round[]> => {
  const rounds: Round[] = []
  const end = performance.now() + limitMs
  let repeats = 0
  for (let longestMs = 0; rounds.length < roundsMin || performance.now() + longestMs < end;) {
    const began = performance.now()
    try {
      rounds.push(await measureNth(rounds.length, opened, parts))
    } catch (error) {
      repeats += 1
      if (repeats > repeatsMax) throw error
      console.error('a round failed and is measured again:', error)
    }
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
