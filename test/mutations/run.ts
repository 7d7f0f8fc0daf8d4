import { parseArgs } from 'node:util'
import { runRecorded } from './run-recorded.ts'
import { runSeeded } from './run-seeded.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { since: { type: 'string' }, count: { type: 'string' }, seed: { type: 'string', default: '1' } },
})

if (values.since === undefined && values.count === undefined) {
  process.exitCode = (await runRecorded(positionals[0] ?? '')) ? 0 : 1
} else {
  await runSeeded({ since: values.since, count: Number(values.count ?? 20), seed: Number(values.seed) })
}
