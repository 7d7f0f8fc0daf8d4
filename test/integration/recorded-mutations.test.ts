import t from 'tap'
import { findEdit } from '#test/mutations/find-edit.ts'
import type { Fault } from '#test/mutations/mutation.ts'
import { applyEdit } from '#test/mutations/seeded/change.ts'

const path = 'services/x.ts'
const mutate = (text: string, fault: Fault, file = path) => applyEdit(text, findEdit({ path: file, text }, fault))

const source = `const start = async (pool, deps) => {
  const isIdle = () => { if (deps.now() > pool.untilMs && !pool.paused) deps.stop(pool, 'idle') }
  return { stop: async () => { if (pool.paused) return undefined; await deps.stop(pool, 'asked', true) } }
}`

t.test('recorded mutations: operands, statements, and items of lists are dropped', (t) => {
  const idle = (drop: string) => mutate(source, { at: `${path} > isIdle`, drop })
  t.match(idle('!$pool.paused'), 'if (deps.now() > pool.untilMs) deps.stop')
  t.match(idle('$deps.now() > $untilMs'), 'if (!pool.paused) deps.stop')
  t.match(idle('$deps.stop($$args)'), '!pool.paused) ; }')
  t.match(idle("'idle'"), 'deps.stop(pool, )')
  const stop = (drop: string) => mutate(source, { at: `${path} > start > stop`, drop })
  t.match(stop('if ($pool.paused) return undefined'), '{ ; await')
  t.match(stop('$deps.stop($$args)'), 'undefined; ; }')
  t.match(mutate('const x = f(a - b - c)', { at: `${path} > x`, drop: 'c' }), 'f(a - b)')
  t.match(mutate('const x = { a, b: 1, ...c }', { at: path, drop: '...$c' }), '{ a, b: 1,  }')
  t.end()
})

t.test('recorded mutations: code is replaced, with what metavariables stand for, in parentheses where needed', (t) => {
  const change = (text: string, replace: string, by: string) => mutate(text, { at: path, replace, by })
  t.equal(change('const x = !f(a ? 1 : 2)', 'f($x)', '$x.y && $x'), 'const x = !((a ? 1 : 2).y && (a ? 1 : 2))')
  t.equal(change('f(1, ...a, { b })', 'f($first, $$rest)', 'f($$rest)'), 'f(...a, { b })')
  t.equal(change('if (a) b()\nelse c()', 'if ($x) $then; else $other', '$other'), 'c()')
  t.equal(change('const x = { a: 1, b }', 'b: $b', 'b: !$b'), 'const x = { a: 1, b: !b }')
  t.equal(change('f(a, b) && f(a, a)', 'f($x, $x)', '$x'), 'f(a, b) && a')
  t.equal(
    mutate('const x = /a{1,9}/; f(9)', { at: `${path} > x`, replaceText: '9', by: '8' }),
    'const x = /a{1,8}/; f(9)',
  )
  t.equal(mutate('a < b', { at: 'x.sql', replaceText: '<', by: '<=' }, 'x.sql'), 'a <= b')
  t.end()
})

t.test('recorded mutations: a renamed variable and another format still match', (t) => {
  const other = source
    .replaceAll('pool', 'each')
    .replaceAll('deps', 'context')
    .replaceAll(' && ', '\n  && (')
    .replace('paused) context', 'paused)) context')
  const fault = { at: `${path} > isIdle`, drop: '$deps.now() > $untilMs' }
  t.match(mutate(other, fault), 'if ((!each.paused)) context.stop')
  t.end()
})

t.test('recorded mutations: a place that is absent or ambiguous fails with what is there', (t) => {
  const fails = (fault: Fault, message: string | RegExp, text = source) =>
    t.throws(() => mutate(text, fault), { message })
  fails({ at: `${path} > begin`, drop: 'x' }, `${path} > begin: no begin among: start, isIdle, stop`)
  fails({ at: `${path} > stop`, drop: '$a && $b()' }, `${path} > stop: no $a && $b() among: `)
  fails({ at: path, drop: '$deps.stop($$args)' }, /2 places with .*line 2 \(.*line 3 \(/)
  fails({ at: path, replaceText: 's', by: '' }, /2 places/, 'const x = "s"; const y = "s"')
  fails({ at: path, replaceText: 'c', by: '' }, /no c/, 'const x = "s"')
  fails({ at: path, replace: '$deps.now()', by: 'elsewhere' }, /name elsewhere does not exist/)
  fails({ at: path, replace: '$deps.now()', by: '$other' }, /\$other/)
  fails({ at: path, drop: 'a b' }, /not an expression/)
  t.end()
})
