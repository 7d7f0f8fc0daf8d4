// Proves the comparison on the commit that is checked out: it finds no difference between the commit and itself, and finds
// 10 % more processor time in accepting, which is planted; ten times each. Writes the part of docs/benchmarks.md.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { madeBy, table, writePart } from '#test/bench/page.ts'
import { collectRounds, type Measure, openSides, summarize } from './compare.ts'
import type { Pair } from './round.ts'
import { commitOf, makeTree } from './tree.ts'

const turns = 10
const plantedShare = 0.1
const accepting = 'services/gateway/db/accept-capture.ts'
const statement = '  const { keyHash, originHost } = capture\n'

/** Compares accepting so many times. */
const compareOften = async (trees: Pair<string>) => {
  await using opened = await openSides(trees)
  const measures: Measure[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    const [measure] = summarize(await collectRounds(opened, ['accept'], 0))
    if (!measure) throw new Error('nothing was measured')
    console.error(measure.comparison)
    measures.push(measure)
  }
  return measures
}

/** Adds processor time to each accept. */
const plant = (tree: string, microseconds: number) => {
  const path = join(tree, accepting)
  const source = readFileSync(path, 'utf8')
  if (!source.includes(statement)) throw new Error(`${accepting} has no place to plant processor time`)
  const spin = `  for (const from = process.threadCpuUsage(); ; ) {
    const { user, system } = process.threadCpuUsage(from)
    if (user + system >= ${microseconds}) break
  }\n`
  writeFileSync(path, source.replace(statement, spin + statement))
}

const row = (name: string, verdict: string, measures: readonly Measure[]) => {
  const comparisons = measures.map(({ comparison }) => comparison)
  const found = comparisons.filter((each) => each.verdict === verdict).length
  const ratios = comparisons.map(({ ratio }) => ratio)
  const resolution = Math.max(...comparisons.map((each) => each.resolution))
  const range = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`
  return [name, `${found} of ${turns}`, range, `${(resolution * 100).toFixed(1)} %`]
}

const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-prove-'))
try {
  const commit = commitOf('HEAD')
  const base = makeTree(commit, join(folder, 'base'))
  const [same, slower] = [join(folder, 'same'), join(folder, 'slower')]
  for (const copy of [same, slower]) cpSync(base, copy, { recursive: true, verbatimSymlinks: true })
  const equal = await compareOften([base, same])
  const eachMs = equal[0]?.means[0] ?? 0
  plant(slower, Math.round(eachMs * plantedShare * 1000))
  const planted = await compareOften([base, slower])
  const rows = [
    row('the commit beside itself is not distinguishable', 'not distinguishable', equal),
    row('10 % more processor time in accepting is worse', 'worse', planted),
  ]
  const text = `${madeBy('bench-compare-proof')}

\`make bench-compare PARTS=accept\` with as few rounds as it allows; an accept took ${eachMs.toFixed(2)} ms of processor time.

${table(['', 'found', 'ratios', 'largest difference that would not have been found'], rows)}
`
  console.log(text)
  writePart('Two versions compared', text)
} finally {
  await rm(folder, { recursive: true, force: true })
}
