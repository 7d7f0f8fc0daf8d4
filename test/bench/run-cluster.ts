// Measures the operator on a real control plane, all parts or those that are named.
import { type Burst, type IdleCost, measureOperator } from './measure-operator.ts'
import { measureReactions, type Reactions } from './measure-reactions.ts'
import { madeBy, mib, ms } from './page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import { quantile } from './quantile.ts'
import { runProgram } from './run-parts.ts'

/** Measures something on a cluster of its own, which is gone afterwards. */
const onCluster = async <T>(measure: (t: { teardown: (clean: () => Promise<void>) => void }) => Promise<T>) => {
  await using opened = new AsyncDisposableStack()
  const teardown = (clean: () => Promise<void>) => {
    opened.defer(clean)
  }
  return await measure({ teardown })
}

const reaction = (what: string, values: readonly number[], bound: string) => [
  what,
  values.length,
  ms(quantile(values, 0.5)),
  ms(Math.max(...values)),
  bound,
]

const reactionsText = (reactions: Reactions) =>
  table(
    ['', 'rounds', 'median ms', 'longest ms', 'bound'],
    [
      reaction('first message on an empty pool → size of the Deployment', reactions.scale, '300'),
      reaction('proxied message → its Job', reactions.job, '100'),
      reaction('leader ended in order → the next has acted', reactions.handoverInOrder, '5,000'),
      reaction('leader killed → the next has acted', reactions.handoverAfterKill, '12,000'),
    ],
  )

const operatorText = ({
  idle,
  burst,
}: {
  readonly idle: IdleCost
  readonly burst: Burst
}) => `When nothing changes: ${idle.pools} BrowserPools, ${idle.pods} pods of workers, ${idle.jobs} live Jobs, for one minute.

${table(
  ['', 'measured', 'bound'],
  [
    ['resident memory', `${mib(idle.residentBytes)} MiB`, '200 MB'],
    ['of one core', `${(idle.core * 100).toFixed(1)} %`, '5 %'],
    ['writes per second, the Lease included', idle.writesPerSecond.toFixed(2), '2'],
  ],
)}

${burst.captures} proxied captures at once, beside all that:

${table(
  ['', 'measured'],
  [
    ['Jobs made', burst.jobs],
    ['most unfinished Jobs at one time (500 of them live all the time, 550 allowed)', burst.mostAtOnce],
    ['moments with more free Jobs than waiting captures', burst.excesses],
    ['captures with more than one result', burst.endedTwice],
    [
      'writes of the controller per capture (its Job, its claim; the rest is status, events, Lease)',
      burst.writesPerCapture.toFixed(2),
    ],
    ['all ended after', `${Math.round(burst.lastsMs / 1000)} s`],
  ],
)}
`

const operatorWorkload = {
  pools: 50,
  workersEach: 20,
  liveJobs: 500,
  idleMs: 60_000,
  burst: 2000,
  nodes: 30,
  leaseSeconds: 6,
}

const parts = {
  reactions: {
    heading: 'How soon the operator acts',
    measure: async () =>
      reactionsText(
        await onCluster((t) =>
          measureReactions(t, { scaleRounds: 5, jobRounds: 20, handoverRounds: 3, leaseSeconds: 6 }),
        ),
      ),
  },
  operator: {
    heading: 'What the operator costs with many pools',
    measure: async () => operatorText(await onCluster((t) => measureOperator(t, operatorWorkload))),
  },
}

await runProgram({
  parts,
  names: process.argv.slice(2),
  footer: `${madeBy('bench-cluster', 'Kubernetes 1.36')} etcd and kwok are on the
same cores. Pods run nothing: a stand-in speaks the workers' messages over a real NATS server.`,
})
