import t from 'tap'
import { budgetFields } from '#controller/operator/manifests/disruption-budget.ts'
import { poolSelector } from '#shared/kube/names.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

t.test('a fifth of the workers may be evicted at once, and those that do not work whenever', async (t) => {
  t.strictSame(budgetFields(poolObject(), 'one').spec, {
    maxUnavailable: '20%',
    selector: { matchLabels: poolSelector('one', 'web') },
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  })
})
