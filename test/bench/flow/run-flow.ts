// Measures what carries captures, without browsers: all parts or those that are named. `--rows N,M` (a case for each), `--waiting N` and
// `--captures N` change how many there are; `--short` measures less and writes nothing.
import { parseArgs } from 'node:util'
import { madeBy } from '#test/bench/page.ts'
import { runProgram } from '#test/bench/run-parts.ts'
import { flowCases, type FlowCase } from './flow-cases.ts'
import { flowText, waitingText } from './flow-text.ts'
import { diskText, measureDisk } from './measure-disk.ts'
import { type Flow, measureFlow } from './measure-flow.ts'
import { type Profile, profileText, readProfile } from './read-profile.ts'

const options = {
  rows: { type: 'string' },
  waiting: { type: 'string' },
  captures: { type: 'string' },
  short: { type: 'boolean', default: false },
} as const
const { values, positionals: names } = parseArgs({ allowPositionals: true, options })
const { short: isShort } = values
const usual = isShort
  ? { captures: '200', waiting: '1000', rows: '20000' }
  : { captures: '1500', waiting: '100000', rows: '1000000' }
const { captures, waiting, rows: rowCounts } = { ...usual, ...values }
const size = { captures: Number(captures), waiting: Number(waiting), rows: rowCounts.split(',').map(Number) }
const cases = flowCases(size)

const measured = new Map<FlowCase['workload'], Promise<Flow>>()
/** Parts share a case that they have in common. */
const measureOnce = ({ workload }: FlowCase): Promise<Flow> => {
  const flow = measured.get(workload) ?? measureFlow(workload)
  measured.set(workload, flow)
  return flow
}

const requireCounts = (): never => {
  throw new Error('PostgreSQL has neither pg_stat_statements nor pg_walinspect: install its contrib modules')
}

const measureRows = async (part: readonly FlowCase[]) => {
  const rows = []
  for (const each of part) {
    const flow = await measureOnce(each)
    if (flow.cost.walPageBytes === undefined) requireCounts()
    rows.push({ name: each.name, flow })
  }
  return rows
}

const measureCases = async (introduction: string, part: readonly FlowCase[]): Promise<string> =>
  flowText(introduction, await measureRows(part))

const common = `16 clients, each with one connection, begin their next request once the last has ended. Stand-ins of workers take 20 ms for a
capture, in 10 slots, and store a png of 4 KB; they run all of a worker's code but the browser host. Each capture is delivered to one
webhook over TLS. Captures per second from the first accept to the last result and to the last answered webhook; milliseconds as
p50 / p99: of the response that accepts, from accept to start, from the stored result to its commit, from there to the answered webhook,
and from accept to webhook. Then what one capture costs; what follows the webhooks' column does not belong to the carrier.`

const parts = {
  kinds: {
    heading: 'Carrying captures without browsers',
    measure: () =>
      measureCases(
        `${common}

Of 20 mixed captures ten are of a batch, five asynchronous, four synchronous, and of one the image is fetched by a signed link; two
lists are read beside them. Render: the first view of a link that captures on demand. With few captures per second, each has a larger share of what the parts do when idle, and fewer are
written and sent together.`,
        cases.kinds,
      ),
  },
  accounts: {
    heading: 'Carrying captures of few and many accounts',
    measure: () => measureCases('As mixed captures above.', cases.accounts),
  },
  slots: {
    heading: 'Carrying captures to few and many slots',
    measure: () => measureCases('As mixed captures above.', cases.slots),
  },
  replicas: {
    heading: 'Carrying captures with several gateways and ledgers',
    measure: () =>
      measureCases('As mixed captures above. Images go to the gateway that signed their address.', cases.replicas),
  },
  waiting: {
    heading: 'Carrying captures beside those that wait',
    measure: async () => {
      const rows = await measureRows(cases.waiting)
      const introduction =
        "As mixed captures above, while captures of another account's batches wait, which share the slots; costs are of all that ended meanwhile."
      return `${flowText(introduction, rows)}
Before the clients, 50 other accounts request one capture each, five a second: milliseconds from accept to start, p50 / p99. Memory is
that of the largest process of each part, without shared memory and pages of files: once a quarter of the captures waits, and once all
do. NATS keeps each report for two hours, so it also grows with the captures that end meanwhile.

${waitingText(rows)}
`
    },
  },
  rows: {
    heading: 'Carrying captures beside many rows',
    measure: () => measureCases('As mixed captures above, beside rows of captures of the last ten days.', cases.rows),
  },
  profile: {
    heading: 'What a capture takes of PostgreSQL',
    measure: async () => {
      let profile: Profile | undefined
      await measureFlow(cases.kinds[0].workload, async (carrier, flow) => {
        profile = await readProfile(carrier, flow)
      })
      return profile ? profileText(profile) : requireCounts()
    },
  },
  disk: {
    heading: 'What a capture leaves on disk',
    measure: async () => diskText(await measureDisk(cases.kinds[0].workload)),
  },
}

await runProgram({ parts, names, footer: madeBy('bench-flow') }, isShort ? () => {} : undefined)
