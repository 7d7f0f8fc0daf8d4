import t from 'tap'
import { asideOf, statusAside } from '#controller/operator/pools/skip-reason.ts'
import { ownersOf } from '#controller/operator/pools/queue-owners.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const older = poolObject('older')
const younger = poolObject('younger', {}, { metadata: { creationTimestamp: '2026-01-01T00:00:01Z' } })
const owners = ownersOf([older, younger])

t.test('a pool that would take the queue of an older one is left alone and says whose it is', async (t) => {
  t.equal(asideOf(older, owners), undefined)
  const aside = asideOf(younger, owners)
  t.match(aside, { reason: 'PoolTaken', word: 'pool-taken', message: /older/ })
  t.match(statusAside({ pool: younger, instance: 'shutterfleet', at: new Date(0) }, aside!), {
    reason: 'pool-taken',
    conditions: [
      { type: 'Ready', status: 'False' },
      { type: 'Reconciling', status: 'False' },
      { type: 'Stalled', status: 'True', reason: 'PoolTaken' },
      {
        type: 'Degraded',
        status: 'True',
        reason: 'PoolTaken',
        message: /older/,
        lastTransitionTime: '1970-01-01T00:00:00Z',
      },
    ],
  })
})

t.test('a pool that another definition let through is left alone and says what is not understood', async (t) => {
  const { drain: _, ...spec } = older.spec
  const odd = { ...older, spec: spec as typeof older.spec }
  t.match(asideOf(odd, owners), { reason: 'ApplyFailed', message: /does not understand spec.*drain/ })
})
