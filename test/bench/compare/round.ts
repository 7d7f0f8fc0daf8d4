import { measureStart, type Measured, runningParts, type Surroundings } from './parts.ts'
import type { Running, Side } from './side.ts'

/** Base first, then the version under test. */
export type Pair<T> = readonly [T, T]

/** Of each measure, what both versions needed in one round. */
export type Round = ReadonlyMap<string, Pair<number>>

const geometricMean = (values: readonly number[]) =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

/** Measures in the order ABBA, or BAAB in every second round, so that a steady drift of the machine falls on both alike. */
const inTurns = async <T>(pair: Pair<T>, turn: number, measure: (side: T) => Promise<Measured>) => {
  const order = turn % 2 === 0 ? ([0, 1, 1, 0] as const) : ([1, 0, 0, 1] as const)
  const values = new Map<string, Pair<number[]>>()
  for (const side of order) {
    for (const [name, value] of Object.entries(await measure(pair[side]))) {
      if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new Error(`${name}: ${value} was measured`)
      const both = values.get(name) ?? [[], []]
      both[side].push(value)
      values.set(name, both)
    }
  }
  return [...values].map(([name, [base, work]]) => [name, [geometricMean(base), geometricMean(work)]] as const)
}

/** Measures the named parts once more, on newly started systems: two starts of one version differ as well. */
export const measureRound = async (
  sides: Pair<Side>,
  parts: readonly string[],
  surroundings: Surroundings,
  turn: number,
): Promise<Round> => {
  const round: (readonly [string, Pair<number>])[] = []
  if (parts.includes('start')) round.push(...(await inTurns(sides, turn, measureStart)))
  const chosen = Object.entries(runningParts).filter(([name]) => parts.includes(name))
  if (chosen.length === 0) return new Map(round)
  await using base = await sides[0].start()
  await using work = await sides[1].start()
  const pair: Pair<Running> = [base, work]
  for (const [, part] of chosen) {
    for (const running of pair) await part.prepare(running, surroundings)
    round.push(...(await inTurns(pair, turn, (running) => part.measure(running, surroundings))))
  }
  return new Map(round)
}
