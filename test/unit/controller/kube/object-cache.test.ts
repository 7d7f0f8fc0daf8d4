import t from 'tap'
import { isNewer } from '#controller/kube/object-cache.ts'

t.test('object cache: compares versions as numbers of any length', async (t) => {
  t.ok(isNewer('10', '9'))
  t.notOk(isNewer('9', '10'))
  t.notOk(isNewer('10', '10'))
  t.ok(isNewer('90071992547409931', '90071992547409930'))
})

t.test('object cache: of non-numeric versions only an equal one is not newer', async (t) => {
  t.ok(isNewer('a', 'b'))
  t.ok(isNewer('b', 'a'))
  t.notOk(isNewer('a', 'a'))
})
