import t from 'tap'
import {
  skippedStatus,
  skipReasonAmong,
  terminatingStatus,
  unsupportedSpecError,
} from '#controller/operator/pools/skip-reason.ts'
import type { BrowserPool } from '#shared/kube/browser-pool.ts'
import { fullSpec, hostileTemplates } from '#test/fixtures/browser-pools.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'
import type { WantedSpec } from '#test/helpers/operator-cluster.ts'

const older = poolObject('older')
const younger = poolObject('younger', {}, { metadata: { creationTimestamp: '2026-01-01T00:00:01Z' } })
const skipReason = skipReasonAmong([older, younger])

const poolOfAge = (name: string, second: number, spec: WantedSpec = {}) =>
  poolObject(name, spec, { metadata: { creationTimestamp: `2026-01-01T00:00:0${second}Z` } })
const fixed = { autoscaling: { enabled: false } }
/** The pool that keeps each of these from its queue, by name. */
const ownersAmong = (...all: readonly BrowserPool[]) =>
  all.map(skipReasonAmong(all)).map((reason) => reason && /BrowserPool (\S+);/.exec(reason.message)?.[1])

t.test('skipped pool: the oldest pool that serves a queue owns it; of equal age, the first by name', async (t) => {
  const all = [poolOfAge('b', 5), poolOfAge('d', 1), poolOfAge('c', 1), poolOfAge('other', 0, { pool: 'stealth' })]
  t.strictSame(ownersAmong(...all), ['c', 'c', undefined, undefined])
})

t.test('skipped pool: a pool of a fixed size owns no queue, and needs none', async (t) => {
  const all = [poolOfAge('old', 1, fixed), poolOfAge('young', 2), poolOfAge('youngest', 3)]
  t.strictSame(ownersAmong(...all), [undefined, undefined, 'young'])
})

t.test('skipped pool: only one pool of Jobs owns the queue, whatever its autoscaling', async (t) => {
  const jobs = { ...fixed, pool: 'proxied' } as const
  t.strictSame(ownersAmong(poolOfAge('one', 1, jobs), poolOfAge('two', 2, jobs)), [undefined, 'one'])
})

t.test('skipped pool: a queue owned by an older pool is a reason, named in the condition', async (t) => {
  t.equal(skipReason(older), undefined)
  const skipped = skipReason(younger)
  t.match(skipped, { reason: 'PoolTaken', code: 'pool-taken', message: /older/ })
  t.match(skippedStatus({ pool: younger, instance: 'shutterfleet', at: new Date(0) }, skipped!), {
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
    t.match(skipReason(odd), { reason: 'ApplyFailed', message: /does not support spec.*scaleDown/ })
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

t.test('terminating pool: has no numbers of before, and names what keeps it', async (t) => {
  const pool = { ...poolObject(), status: { readyReplicas: 3, reason: 'steady' } }
  const status = terminatingStatus({ pool, instance: 'one', at: new Date(0) })
  t.notOk('readyReplicas' in status)
  t.equal(status.reason, 'terminating')
  t.match(status.conditions?.[0], { type: 'Ready', status: 'False', message: /until its finalizers are removed/ })
})
