import t from 'tap'
import { applyEdit } from '#test/mutations/seeded/change.ts'
import { codeChanges } from '#test/mutations/seeded/code-changes.ts'
import { findReachingTests } from '#test/mutations/seeded/reaching-tests.ts'
import { sqlChanges } from '#test/mutations/seeded/sql-changes.ts'

const changed = (text: string) => codeChanges({ path: 'services/x.ts', text }).map((change) => applyEdit(text, change))

t.test('seeded changes: code changes cover each operator, number, condition and await, one at a time', (test) => {
  test.same(changed('const isFull = used <= limit'), ['const isFull = used < limit'])
  test.same(changed('const waitMs = 500'), ['const waitMs = 1000'])
  test.same(changed('if (isOver) stop()'), ['if (true) stop()', 'if (false) stop()', 'if (isOver) ;'])
  test.same(changed('await close(socket)'), [';', 'void close(socket)'])
  test.same(changed("const text = 'a' + b"), [])
  test.end()
})

t.test('seeded changes: statements, properties, arguments and entries are removed one at a time', (test) => {
  test.same(changed('outages += 1'), [';', 'outages = 1'])
  test.same(changed('const all = { ...some, connectMs }'), ['const all = {  connectMs }', 'const all = { ...some,  }'])
  test.same(changed('const names = [first, second]'), ['const names = [ second]', 'const names = [first, ]'])
  test.same(changed('const text = read(path, options)'), ['const text = read(path, )'])
  test.end()
})

t.test('seeded changes: names of one unit are exchanged, and factors of units removed', (test) => {
  const exchanged = (text: string) => changed(text).filter((each) => !each.includes('{  ') && !each.includes(',  }'))
  test.same(exchanged('const all = { connectMs, answerMs }'), [
    'const all = { connectMs: answerMs, answerMs }',
    'const all = { connectMs, answerMs: connectMs }',
  ])
  test.same(exchanged('const all = { a: bounds.connectMs, b: answerMs }'), [
    'const all = { a: answerMs, b: answerMs }',
    'const all = { a: bounds.connectMs, b: bounds.connectMs }',
  ])
  test.same(changed('const all = take(fromMs, toMs)'), [
    'const all = take(fromMs, )',
    'const all = take(toMs, toMs)',
    'const all = take(fromMs, fromMs)',
  ])
  test.same(changed('const seconds = waitMs / 1000'), [
    'const seconds = waitMs * 1000',
    'const seconds = waitMs',
    'const seconds = waitMs / 2000',
  ])
  test.end()
})

t.test('seeded changes: a loop is left instead of continued, and continued instead of left', (test) => {
  const left = 'const run = () => { for (const each of all) if (each) return }'
  const continued = 'const run = () => { for (const each of all) if (each) continue }'
  const jumps = (text: string) => changed(text).filter((each) => !/if \((true|false)\)/.test(each))
  test.same(jumps(continued), [left])
  test.same(jumps(left), [continued])
  test.same(jumps('const run = () => { if (isOver) return }'), [])
  test.end()
})

t.test('seeded changes: SQL changes cover locks and comparisons, not comments', (test) => {
  const text = 'select 1 -- for update, a < b\nwhere a < b for update'
  const of = sqlChanges({ path: 'x.sql', text }).map((change) => applyEdit(text, change))
  test.same(of, [
    'select 1 -- for update, a < b\nwhere a < b ',
    'select 1 -- for update, a < b\nwhere a <= b for update',
  ])
  test.end()
})

t.test('seeded changes: predicates, columns and values of SQL are removed, in code too', (test) => {
  const texts = (text: string) => sqlChanges({ path: 'x.sql', text }).map((change) => applyEdit(text, change))
  test.same(texts('update t set a = 1, b = f(c) where id = $1 and attempts = $2'), [
    'update t set a = 1, b = f(c) where id = $1 or attempts = $2',
    'update t set a = 1, b = f(c) where id = $1 ',
    'update t set a = 1 where id = $1 and attempts = $2',
  ])
  test.same(texts("delete from t where status in ('failed', 'completed')"), [
    "delete from t where status in ('failed')",
  ])
  test.same(changed('query(`select from ${table} where id = $1 and run = $2 limit 100`)'), [
    ';',
    'query(`select from ${table} where id = $1 or run = $2 limit 100`)',
    'query(`select from ${table} where id = $1  limit 100`)',
    'query(`select from ${table} where id = $1 and run = $2 limit 200`)',
  ])
  test.end()
})

t.test(
  'seeded changes: tests that `make test` runs are found through imports, started programs and SQL files',
  (test) => {
    const testsOf = findReachingTests([
      { path: 'services/shared/db/take.ts', text: "query('select take_due(1)')" },
      { path: 'services/shared/db/sql/take-due.sql', text: '' },
      { path: 'services/ledger/main.ts', text: "import { take } from '#shared/db/take.ts'; read('db/sql/forget.sql')" },
      { path: 'services/ledger/db/sql/forget.sql', text: '' },
      { path: 'test/unit/shared/db/take.test.ts', text: "import { take } from '#shared/db/take.ts'" },
      { path: 'test/unit/shared/db/other.test.ts', text: '' },
      { path: 'test/unit/ledger/take.test.ts', text: "import { run } from '#ledger/main.ts'" },
      { path: 'test/helpers/ledger.ts', text: "start('services/ledger/main.ts')" },
      { path: 'test/integration/ledger.test.ts', text: "import { start } from '#test/helpers/ledger.ts'" },
      { path: 'services/worker/main.ts', text: "spawn(programPath('worker/host/main'))" },
      { path: 'services/worker/host/main.ts', text: '' },
      { path: 'test/helpers/worker.ts', text: "start(join('../services/worker', 'main.ts'))" },
      { path: 'test/integration/worker.test.ts', text: "import { start } from '#test/helpers/worker.ts'" },
      { path: 'test/e2e/worker.test.ts', text: "import { start } from '#test/helpers/worker.ts'" },
    ])
    test.same(testsOf('services/shared/db/take.ts'), {
      unit: ['test/unit/shared/db/take.test.ts', 'test/unit/ledger/take.test.ts'],
      integration: ['test/integration/ledger.test.ts'],
    })
    test.same(testsOf('services/shared/db/sql/take-due.sql').integration, ['test/integration/ledger.test.ts'])
    test.same(testsOf('services/ledger/db/sql/forget.sql').integration, ['test/integration/ledger.test.ts'])
    test.same(testsOf('services/worker/main.ts'), { unit: [], integration: ['test/integration/worker.test.ts'] })
    test.same(testsOf('services/worker/host/main.ts').integration, ['test/integration/worker.test.ts'])
    test.end()
  },
)
