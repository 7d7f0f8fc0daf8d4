import { machine, table, writePart } from './page.ts'
import { type Measured, measureNodes } from './measure-nodes.ts'
import { quantile } from './quantile.ts'

await using opened = new AsyncDisposableStack()
const times = await measureNodes({
  teardown: (clean) => {
    opened.defer(clean)
  },
})

const row = (what: string, { seconds, load }: Measured, bound: string) => [
  what,
  seconds.length,
  quantile(seconds, 0.5).toFixed(1),
  Math.max(...seconds).toFixed(1),
  bound,
  load.toFixed(1),
]

const text = `## On real nodes

Made by \`make bench-nodes\` on ${new Date().toISOString().slice(0, 10)}: ${machine}; control plane, two nodes, PostgreSQL, NATS, S3, pages
and proxy on the same cores. Images are on the nodes. The load is the machine's average of a minute, at the end of each line's rounds.

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

writePart('nodes', text)
console.log(text)
console.log('written to docs/benchmarks.md')
