import t from 'tap'
import { skippedStatus, skipReason, unsupportedSpecError } from '#controller/operator/pools/skip-reason.ts'
import { queueOwners } from '#controller/operator/pools/queue-owners.ts'
import { fullSpec, hostileTemplates } from '#test/fixtures/browser-pools.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const older = poolObject('older')
const younger = poolObject('younger', {}, { metadata: { creationTimestamp: '2026-01-01T00:00:01Z' } })
const owners = queueOwners([older, younger])

t.test('skipped pool: a queue owned by an older pool is a reason, named in the condition', async (t) => {
  t.equal(skipReason(older, owners), undefined)
  const aside = skipReason(younger, owners)
  t.match(aside, { reason: 'PoolTaken', code: 'pool-taken', message: /older/ })
  t.match(skippedStatus({ pool: younger, instance: 'shutterfleet', at: new Date(0) }, aside!), {
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

t.test(
  'skipped pool: a spec of another CustomResourceDefinition is a reason, naming the unsupported field',
  async (t) => {
    const { scaleDown: _, ...spec } = older.spec
    const odd = { ...older, spec: spec as typeof older.spec }
    t.match(skipReason(odd, owners), { reason: 'ApplyFailed', message: /does not support spec.*scaleDown/ })
  },
)

const odd = (change: object) => unsupportedSpecError({ spec: { ...poolObject().spec, ...change } })

t.test("skipped pool: a spec of this release's CustomResourceDefinition is supported", async (t) => {
  t.equal(odd({}), undefined)
  t.equal(
    odd({ template: { resources: { limits: { cpu: 1, memory: '1Gi' } }, affinity: { anything: [] } } }),
    undefined,
  )
})

t.test('skipped pool: fields that a newer CustomResourceDefinition adds are supported', async (t) => {
  t.equal(odd({ later: true }), undefined)
})

t.test('skipped pool: a field that is missing or of another type is named', async (t) => {
  t.match(odd({ autoscaling: undefined }), /autoscaling/)
  t.match(odd({ replicas: 'three' }), /^spec\.replicas /)
  t.match(odd({ pool: 'other' }), /^spec\.pool /)
})

t.test(
  'skipped pool: a template that would gain what the workers have is not supported, whatever definition let it in',
  async (t) => {
    t.equal(odd({ template: fullSpec.template }), undefined)
    for (const [what, template] of hostileTemplates) t.match(odd({ template }), /^spec\.template\./, what)
  },
)
