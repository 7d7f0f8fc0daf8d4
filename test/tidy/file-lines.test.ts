import t from 'tap'
import { fileLines } from './checks/file-lines.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const lines = (count: number) => 'x\n'.repeat(count)

await testCheck(t, {
  check: fileLines,
  real: () => fileLines(readTree('')),
  bad: [
    { name: '401 lines of code', tree: { 'services/x.ts': lines(401) }, at: ['services/x.ts:402'] },
    { name: '401 lines of SQL', tree: { 'services/x.sql': lines(401) }, at: ['services/x.sql:402'] },
  ],
  good: [
    { name: '400 lines', tree: { 'services/x.ts': lines(400) } },
    { name: 'long text', tree: { 'package-lock.json': lines(500), 'docs/x.md': lines(500) } },
  ],
})
