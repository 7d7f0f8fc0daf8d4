// Proves the comparison on the commit that is checked out: it finds no difference between the commit and itself, and finds
// 10 % more processor time in accepting, which is planted; ten times each. The arguments name the parts, none: both.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { madeBy } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import { runProgram } from '#test/bench/run-parts.ts'
import { collectRounds, type Measure, openSides, type Opened, summarize } from './compare.ts'
import type { Pair } from './pair.ts'
import { temporaryFolder } from './on-end.ts'
import { commitOf, makeTree } from './tree.ts'

const turns = 10
const plantedShare = 0.1
const trialHashes = 200
const accepting = 'services/gateway/db/accept-capture.ts'
const statement = '  const { keyHash, originHost } = capture\n'

const compare = async (opened: Opened) => {
  const [measure] = summarize(await collectRounds(opened, ['accept'], 0))
  if (!measure) throw new Error('nothing was measured')
  return measure
}

/** Compares accepting ten times. */
const compareOften = async (trees: Pair<string>) => {
  await using opened = await openSides(trees)
  const measures: Measure[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    const measure = await compare(opened)
    console.error(measure.comparison)
    measures.push(measure)
  }
  return measures
}

/** Adds hashing to each accept. A fixed delay would not do: core speed may vary by half, and the added work must vary with it. */
const plant = ([base, copy]: Pair<string>, hashes: number) => {
  const source = readFileSync(join(base, accepting), 'utf8')
  if (!source.includes(statement))
    throw new Error(`${accepting} does not contain the statement before which work is planted`)
  const head = "import { createHash } from 'node:crypto'\nconst block = Buffer.alloc(4096)\n"
  const work = `  for (let count = 0; count < ${hashes}; count += 1) createHash('sha256').update(block).digest()\n`
  writeFileSync(join(copy, accepting), head + source.replace(statement, work + statement))
}

/** Plants as many hashes as make an accept 10 % slower, calibrated by a comparison with `trialHashes` of them. */
const plantTenth = async (trees: Pair<string>) => {
  plant(trees, trialHashes)
  await using opened = await openSides(trees)
  const { comparison } = await compare(opened)
  console.error(comparison)
  if (comparison.verdict !== 'worse') throw new Error(`the comparison did not detect ${trialHashes} hashes per accept`)
  plant(trees, Math.round((trialHashes * plantedShare) / (comparison.ratio - 1)))
}

const text = (expected: string, measures: readonly Measure[]) => {
  const rows = measures.map(
    ({ means: [before, now], comparison: { ratio, from, to, verdict, resolution, leftOut } }) => [
      before.toFixed(2),
      now.toFixed(2),
      ratio.toFixed(3),
      `${from.toFixed(3)} to ${to.toFixed(3)}`,
      verdict,
      `${(resolution * 100).toFixed(1)} %`,
      String(leftOut),
    ],
  )
  const right = measures.filter(({ comparison }) => comparison.verdict === expected).length
  return `\`make bench-compare PARTS=accept\`, ten rounds each: ${right} of ${turns} are ${expected}. Processor milliseconds of an accept.

${table(['base', 'now', 'ratio', 'interval', 'verdict', 'difference that would have been found', 'rounds left out'], rows)}
`
}

const folder = temporaryFolder('shutterfleet-prove-')
const base = makeTree(commitOf('HEAD'), join(folder, 'base'))
const copy = join(folder, 'copy')
cpSync(base, copy, { recursive: true, verbatimSymlinks: true })
const measureEqual = async () => text('not distinguishable', await compareOften([base, copy]))
const measurePlanted = async () => {
  await plantTenth([base, copy])
  return text('worse', await compareOften([base, copy]))
}
const parts = {
  equal: { heading: 'A version compared with itself', measure: measureEqual },
  planted: { heading: 'A version compared with one that takes 10 % more for an accept', measure: measurePlanted },
}
await runProgram({ parts, names: process.argv.slice(2), footer: madeBy('bench-compare-proof') })
