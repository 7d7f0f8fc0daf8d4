import { measureOperator } from './measure-operator.ts'
import { measureReactions } from './measure-reaction.ts'
import { machine, mib, ms, table, writePart } from './page.ts'
import { quantile } from './quantile.ts'

/** Measures something on a cluster of its own, which is gone afterwards. */
const onCluster = async <T>(measure: (t: { teardown: (clean: () => Promise<void>) => void }) => Promise<T>) => {
  await using opened = new AsyncDisposableStack()
  const teardown = (clean: () => Promise<void>) => {
    opened.defer(clean)
  }
  return await measure({ teardown })
}

const reactions = await onCluster(measureReactions)
const { idle, burst } = await onCluster(measureOperator)

const reaction = (what: string, values: readonly number[], bound: string) => [
  what,
  values.length,
  ms(quantile(values, 0.5)),
  ms(Math.max(...values)),
  bound,
]

const text = `## The operator on Kubernetes

Made by \`make bench-cluster\` on ${new Date().toISOString().slice(0, 10)}: ${machine}; Kubernetes 1.36, etcd and kwok on the
same two cores. Pods run nothing: a stand-in speaks the workers' messages over a real NATS server.

### How soon it acts

${table(
  ['', 'rounds', 'median ms', 'longest ms', 'bound'],
  [
    reaction('first message on an empty pool → size of the Deployment', reactions.scale, '300'),
    reaction('proxied message → its Job', reactions.job, '100'),
    reaction('leader ended in order → the next has acted', reactions.handoverInOrder, '5,000'),
    reaction('leader killed → the next has acted', reactions.handoverAfterKill, '20,000'),
  ],
)}

### What it costs when nothing changes

${idle.pools} BrowserPools, ${idle.pods} pods of workers, ${idle.jobs} live Jobs, for one minute.

${table(
  ['', 'measured', 'bound'],
  [
    ['resident memory', `${mib(idle.residentBytes)} MiB`, '200 MB'],
    ['of one core', `${(idle.core * 100).toFixed(1)} %`, '5 %'],
    ['writes per second, the Lease included', idle.writesPerSecond.toFixed(2), '2'],
  ],
)}

### ${burst.captures} proxied captures at once, beside all that

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

writePart('kubernetes', text)
console.log(text)
console.log('written to docs/benchmarks.md')
