import { madeBy } from '#test/bench/page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import type { Measure } from './compare.ts'

const percent = (share: number) => `${(share * 100).toFixed(1)} %`
const significant = (value: number) => Number(value.toPrecision(3)).toString()

/** A comparison as Markdown. */
export const comparisonText = (base: string, rounds: number, measures: readonly Measure[]): string => {
  const rows = measures.map(
    ({ name, means: [before, now], comparison: { ratio, from, to, verdict, resolution, leftOut } }) => [
      name,
      significant(before),
      significant(now),
      ratio.toFixed(3),
      `${from.toFixed(3)} to ${to.toFixed(3)}`,
      verdict === 'not distinguishable' ? `${verdict}, ${percent(resolution)} would be` : verdict,
      String(leftOut),
    ],
  )
  return `${madeBy(`bench-compare BASE=${base}`)} ${rounds} rounds, in turns ABBA; less is better.

${table(['', base, 'now', 'ratio', 'interval', 'verdict', 'rounds left out'], rows)}`
}
