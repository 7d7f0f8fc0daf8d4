import { type Measured, measureNodes } from './measure-nodes.ts'
import { madeBy, table } from './page.ts'
import { quantile } from './quantile.ts'
import { runProgram } from './run-parts.ts'

const row = (what: string, { seconds, load }: Measured, bound: string) => [
  what,
  seconds.length,
  quantile(seconds, 0.5).toFixed(1),
  Math.max(...seconds).toFixed(1),
  bound,
  load.toFixed(1),
]

const measure = async () => {
  await using opened = new AsyncDisposableStack()
  const times = await measureNodes({
    teardown: (clean) => {
      opened.defer(clean)
    },
  })
  return `Images are on the nodes. The load is the machine's average of a minute, at the end of each line's rounds.

${table(
  ['', 'rounds', 'median s', 'longest s', 'bound', 'load'],
  [
    row('`helm install` of the evaluation profile to the first captured page', times.evaluation, '120'),
    row('the same with PostgreSQL, NATS and S3 outside', times.release, ''),
    row('capture on a pool that has no worker', times.zero, '8'),
    row('proxied capture without a spare', times.proxied, '6'),
    row('proxied capture with a spare', times.spare, '2'),
  ],
)}
`
}

await runProgram({
  parts: { nodes: { heading: 'On real nodes', measure } },
  names: [],
  footer: `${madeBy('bench-nodes')} Control plane, two nodes, PostgreSQL, NATS, S3, pages and proxy are on the same cores.`,
})
