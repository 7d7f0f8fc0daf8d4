import t from 'tap'
import { hopTable } from './checks/hop-table.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const tree = (...rows: string[]) => ({ 'ARCHITECTURE.md': rows.join('\n') })
const many = Array.from({ length: 59 }, (_, index) => `\`services/f${index}.ts\``).join('; ')

await testCheck(t, {
  check: hopTable,
  real: () => hopTable(readTree('').filter(({ path }) => path === 'ARCHITECTURE.md')),
  bad: [
    {
      name: 'a file that is opened twice',
      tree: tree('| 1 | a | b | `services/a.ts` reads | 1 |', '| 2 | a | b | `services/a.ts` writes | 1 |'),
      at: ['ARCHITECTURE.md:2'],
    },
    { name: 'a wrong count', tree: tree('| 1 | a | b | `services/a.ts` | 2 |'), at: ['ARCHITECTURE.md:1'] },
    {
      name: 'the 61st file',
      tree: tree(`| 1 | a | b | ${many} | 59 |`, '| 2 | a | b | `services/a.ts`; `services/b.sql` | 2 |'),
      at: ['ARCHITECTURE.md:2'],
    },
    { name: 'a missing table', tree: tree('no table'), at: ['ARCHITECTURE.md:1'] },
  ],
  good: [
    {
      name: 'files beside the path',
      tree: tree(`| 1 | a | b | ${many} | 59 |`, '| 4 | a | b | `services/a.ts`, `services/b.sql` | – |'),
    },
  ],
})
