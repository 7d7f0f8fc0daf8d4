// Compares the working tree with a commit: `--base COMMIT`, `--parts a,b`, `--minutes N`. Exit 1 where a measure is worse.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { collectRounds, openSides, summarize } from './compare.ts'
import { canCarry } from './carry-in-turns.ts'
import { partNames } from './parts.ts'
import { comparisonText } from './comparison-text.ts'
import { temporaryFolder } from './on-end.ts'
import { commitOf, makeTree, ownTree } from './tree.ts'

const minutesMax = 600

/** Throws with what to type instead. */
const readArguments = () => {
  const options = { base: { type: 'string' }, parts: { type: 'string' }, minutes: { type: 'string' } } as const
  const { base, parts: list, minutes: typed = '15' } = parseArgs({ options }).values
  if (!base) throw new Error('BASE is missing: make bench-compare BASE=<commit>')
  const parts = list?.split(',') ?? partNames
  const unknown = parts.find((part) => !partNames.includes(part))
  if (unknown !== undefined) throw new Error(`PARTS: ${unknown} is none of ${partNames.join(',')}`)
  const minutes = Number(typed)
  if (!(minutes > 0 && minutes <= minutesMax))
    throw new Error(`MINUTES = ${typed}, must be above 0 and at most ${minutesMax}`)
  return { commit: commitOf(base), parts, minutes }
}

const compareWith = async ({ commit, parts, minutes }: ReturnType<typeof readArguments>) => {
  const folder = temporaryFolder('shutterfleet-base-')
  const base = makeTree(commit, join(folder, commit))
  if (!canCarry(base)) console.error(`flow is not compared: ${commit} is older than this part`)
  const comparable = parts.filter((part) => part !== 'flow' || canCarry(base))
  await using opened = await openSides([base, ownTree])
  const rounds = await collectRounds(opened, comparable, minutes * 60_000)
  const measures = summarize(rounds)
  console.log(comparisonText(commit, rounds.length, measures))
  if (measures.some(({ comparison }) => comparison.verdict === 'worse')) process.exitCode = 1
}

const readOrExplain = () => {
  try {
    return readArguments()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
    return undefined
  }
}

const input = readOrExplain()
if (input) await compareWith(input)
