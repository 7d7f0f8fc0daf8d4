import { carryInTurns } from './carry-in-turns.ts'
import { type Measured, measureStart, runningParts, type Surroundings } from './parts.ts'
import { type Pair, turnOrder } from './pair.ts'
import type { Side } from './side.ts'

/** Of each measure, what both versions needed in one round. */
export type Round = ReadonlyMap<string, Pair<number>>

const geometricMean = (a: number, b: number) => Math.sqrt(a * b)

const meanOf = (a: Measured, b: Measured): Measured =>
  Object.fromEntries(Object.entries(a).map(([name, value]) => [name, geometricMean(value, b[name] ?? Number.NaN)]))

const measureStarts = async (sides: Pair<Side>): Promise<Pair<Measured>> => {
  const starts: Pair<Measured[]> = [[], []]
  for (const side of turnOrder) starts[side].push(await measureStart(sides[side]))
  const mean = ([first = {}, second = {}]: readonly Measured[]) => meanOf(first, second)
  return [mean(starts[0]), mean(starts[1])]
}

const measureRunning = async (sides: Pair<Side>, parts: readonly string[], surroundings: Surroundings) => {
  const chosen = Object.entries(runningParts).filter(([name]) => parts.includes(name))
  if (chosen.length === 0) return []
  // One after the other: each looks for free ports.
  await using base = await sides[0].start()
  await using work = await sides[1].start()
  const pair = [base, work] as const
  const measured: Pair<Measured>[] = []
  for (const [, part] of chosen) {
    await part.prepare(pair, surroundings)
    measured.push(await part.measure(pair, surroundings))
  }
  return measured
}

/** By measure. Throws on one that is not above 0 and finite. */
const pairUp = ([base, work]: Pair<Measured>) =>
  Object.entries(base).map(([name, value]) => {
    const both = [value, work[name] ?? Number.NaN] as const
    if (!both.every((each) => each > 0 && each < Number.POSITIVE_INFINITY)) throw new Error(`${name}: ${both.join()}`)
    return [name, both] as const
  })

/** Measures the named parts once more, on newly started systems: two starts of one version differ as well. */
export const measureRound = async (
  sides: Pair<Side>,
  parts: readonly string[],
  surroundings: Surroundings,
): Promise<Round> => {
  const starts = parts.includes('start') ? [await measureStarts(sides)] : []
  const flow = parts.includes('flow')
    ? [await carryInTurns([sides[0].tree, sides[1].tree], surroundings.workload.flow)]
    : []
  const running = await measureRunning(sides, parts, surroundings)
  return new Map([...starts, ...flow, ...running].flatMap(pairUp))
}
