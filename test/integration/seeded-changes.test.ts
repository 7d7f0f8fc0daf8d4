import t from 'tap'
import { applyChange } from '#test/mutations/seeded/change.ts'
import { codeChanges } from '#test/mutations/seeded/code-changes.ts'
import { findReachingTests } from '#test/mutations/seeded/reaching-tests.ts'
import { sqlChanges } from '#test/mutations/seeded/sql-changes.ts'

const changed = (text: string) =>
  codeChanges({ path: 'services/x.ts', text }).map((change) => applyChange(text, change))

t.test('seeded changes: code changes cover each operator, number, condition and await, one at a time', (test) => {
  test.same(changed('const isFull = used <= limit'), ['const isFull = used < limit'])
  test.same(changed('const waitMs = 500'), ['const waitMs = 1000'])
  test.same(changed('if (isOver) stop()'), ['if (true) stop()', 'if (false) stop()'])
  test.same(changed('await close(socket)'), ['void close(socket)'])
  test.same(changed("const text = 'a' + b"), [])
  test.end()
})

t.test('seeded changes: SQL changes cover locks and comparisons, not comments', (test) => {
  const text = 'select 1 -- for update, a < b\nwhere a < b for update'
  const of = sqlChanges({ path: 'x.sql', text }).map((change) => applyChange(text, change))
  test.same(of, [
    'select 1 -- for update, a < b\nwhere a < b ',
    'select 1 -- for update, a < b\nwhere a <= b for update',
  ])
  test.end()
})

t.test('seeded changes: tests are found through imports, started programs and SQL files', (test) => {
  const testsOf = findReachingTests([
    { path: 'services/shared/db/take.ts', text: '/** See `sql/take.sql`. */' },
    { path: 'services/ledger/main.ts', text: "import { take } from '#shared/db/take.ts'; read('db/sql/forget.sql')" },
    { path: 'test/unit/shared/db/take.test.ts', text: "import { take } from '#shared/db/take.ts'" },
    { path: 'test/unit/shared/db/other.test.ts', text: '' },
    { path: 'test/unit/ledger/take.test.ts', text: "import { run } from '#ledger/main.ts'" },
    { path: 'test/helpers/ledger.ts', text: "start('services/ledger/main.ts')" },
    { path: 'test/integration/ledger.test.ts', text: "import { start } from '#test/helpers/ledger.ts'" },
  ])
  test.same(testsOf('services/shared/db/take.ts'), {
    unit: ['test/unit/shared/db/take.test.ts', 'test/unit/ledger/take.test.ts'],
    integration: ['test/integration/ledger.test.ts'],
  })
  test.same(testsOf('services/shared/db/sql/take.sql').integration, ['test/integration/ledger.test.ts'])
  test.same(testsOf('services/ledger/db/sql/forget.sql').integration, ['test/integration/ledger.test.ts'])
  test.end()
})
