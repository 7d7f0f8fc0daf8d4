import type { NodeBurst } from './replay-node-burst.ts'
import { type Measured, measureNodes } from './measure-nodes.ts'
import { madeBy } from './page.ts'
import { table } from '#tools/docs/markdown-table.ts'
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

const burstText = ({ startMs, serviceMs, real, simulated }: NodeBurst) => {
  const quantiles = (waits: readonly number[]) => [0.5, 0.95].map((share) => (quantile(waits, share) / 1000).toFixed(1))
  const [seconds, service] = [startMs, serviceMs].map((ms) => (ms / 1000).toFixed(1))
  return `A burst of ${real.length} captures within two seconds, which take ${service} s each, on a pool of one worker; six at most. Others started in ${seconds} s.

${table(
  ['', 'p50 s of the waits', 'p95 s'],
  [
    ['on the nodes', ...quantiles(real)],
    ['simulated with these times', ...quantiles(simulated)],
  ],
)}
`
}

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

${burstText(times.burst)}`
}

await runProgram({
  parts: { nodes: { heading: 'On real nodes', measure } },
  names: [],
  footer: `${madeBy('bench-nodes')} Control plane, two nodes, PostgreSQL, NATS, S3, pages and proxy are on the same cores.`,
})
