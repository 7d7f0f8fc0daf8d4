import t from 'tap'
import { subjects } from './checks/subjects.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/ledger/x.ts'
const bad = (text: string) => ({ name: text, tree: { [path]: text }, at: [`${path}:1`] })
const good = (text: string, file = path) => ({ name: `${text} in ${file}`, tree: { [file]: text } })

await testCheck(t, {
  check: subjects,
  real: () => subjects(readSources()),
  bad: [
    bad('const subject = `result.${id}`'),
    bad('const subject = `capture.${pool}.${lane}`'),
    bad(`const subject = 'started.' + id`),
    bad(`const filter = 'capture.standard.>'`),
    bad(`const filter = 'event.*'`),
    bad(`const subject = 'worker.standard.pod-1.drain'`),
    bad('const filter = `stage.*`'),
  ],
  good: [
    good(`const span = 'capture.accepted'`),
    good(`const text = 'The result. It is there'`),
    good('const key = `captures/${id}`'),
    good('const count = pool.size'),
    good('const subject = `result.${id}`', 'services/shared/queue/subjects.ts'),
    good('const subject = `result.${id}`', 'test/unit/shared/queue/subjects.test.ts'),
  ],
})
