import t from 'tap'
import {
  labelledPool,
  managedSelector,
  objectName,
  poolLabels,
  labelSelector,
  workersName,
} from '#shared/kube/names.ts'

const isLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

t.test('names: keeps a valid DNS-1123 label', async (t) => {
  t.equal(objectName('workers', 'standard'), 'workers-standard')
  t.equal(objectName('a'.repeat(63)), 'a'.repeat(63))
})

t.test('names: makes a DNS-1123 label of any text', async (t) => {
  const strange = ['a'.repeat(64), 'Über/Pool_1', '-a-', '', '--', '.', `${'a'.repeat(54)}-b${'c'.repeat(20)}`]
  for (const text of strange) t.match(objectName(text), isLabel, text)
})

t.test('names: changed names stay distinct', async (t) => {
  const parts = [['a', 'B'], ['a', 'b'], ['a_b'], ['a.b'], ['a'.repeat(70)], ['a'.repeat(71)]] as [
    string,
    ...string[],
  ][]
  t.equal(new Set(parts.map((each) => objectName(...each))).size, parts.length)
})

t.test('names: the labels of a pool are a selector', async (t) => {
  t.match(labelSelector(poolLabels('shutterfleet', 'standard')), /(^|,)shutterfleet\.dev\/pool=standard(,|$)/)
})

t.test('names: objects of a pool are named after it and found by its label', async (t) => {
  t.equal(workersName('standard'), 'shutterfleet-standard')
  t.match(workersName('a.b'), isLabel)
  t.equal(labelledPool(poolLabels('shutterfleet', 'a.b')), objectName('a.b'))
  t.equal(labelledPool({ other: 'x' }), undefined)
  t.equal(labelledPool(undefined), undefined)
})

t.test('names: one selector finds the objects of all pools of an installation, and of no other', async (t) => {
  const isFound = (selector: string, labels: Readonly<Record<string, string>>) =>
    selector.split(',').every((each) => labels[each.split('=')[0] ?? ''] === each.split('=')[1])
  for (const pool of ['standard', 'stealth']) {
    t.ok(isFound(managedSelector('one'), poolLabels('one', pool)))
    t.notOk(isFound(managedSelector('one'), poolLabels('other', pool)))
  }
})
