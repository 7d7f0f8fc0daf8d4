import t from 'tap'
import { operatorRoleOf } from '#gateway/oidc/operator-role.ts'

const settings = { values: ['admins', 'ops'], readOnlyValues: ['readers'] }

t.test('operator role: a text or a list with one of the values, compared exactly', async (t) => {
  for (const value of ['ops', ['ops'], ['x', 'admins'], ['readers', 'ops']])
    t.equal(operatorRoleOf(value, settings), 'operator', JSON.stringify(value))
  for (const value of ['readers', ['x', 'readers']])
    t.equal(operatorRoleOf(value, settings), 'operator_read_only', JSON.stringify(value))
})

t.test('operator role: anything else makes nobody an operator', async (t) => {
  for (const value of [
    undefined,
    null,
    true,
    1,
    '',
    [],
    'Ops',
    'ops ',
    'xops',
    'ops,x',
    [['ops']],
    { ops: true },
    [{}],
  ])
    t.equal(operatorRoleOf(value, settings), null, JSON.stringify(value))
  t.equal(operatorRoleOf(undefined, { values: [], readOnlyValues: [] }), null)
  t.equal(operatorRoleOf('', { values: [], readOnlyValues: [] }), null)
})
