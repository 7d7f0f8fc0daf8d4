import t from 'tap'
import { misunderstandingOf } from '#controller/operator/pools/unsupported-spec.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const odd = (change: object) => misunderstandingOf({ spec: { ...poolObject().spec, ...change } })

t.test('what the definition of this release lets through is understood', async (t) => {
  t.equal(odd({}), undefined)
  t.equal(
    odd({ template: { resources: { limits: { cpu: 1, memory: '1Gi' } }, affinity: { anything: [] } } }),
    undefined,
  )
})

t.test('what a newer definition adds is no harm', async (t) => {
  t.equal(odd({ later: true }), undefined)
})

t.test('what is missing or of another type is named', async (t) => {
  t.match(odd({ autoscaling: undefined }), /autoscaling/)
  t.match(odd({ replicas: 'three' }), /^spec\.replicas /)
  t.match(odd({ pool: 'other' }), /^spec\.pool /)
})
