import t from 'tap'
import { policyOf } from '#controller/operator/scale/pool-policy.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

t.test('pool policy: maps every spec field', async (t) => {
  const autoscaling = {
    minReplicas: 0,
    maxReplicas: 9,
    slots: 2,
    reservedSlots: 1,
    buffer: 1,
    queueWaitMs: 700,
    normalQueueWaitMs: 900,
    cooldownSeconds: 300,
    prediction: false,
  }
  t.strictSame(
    policyOf(poolObject('web', { autoscaling, scaleDown: { stabilizationWindowSeconds: 20, periodSeconds: 7 } }).spec),
    {
      size: 'by-queue',
      isPaused: false,
      min: 0,
      max: 9,
      slots: 2,
      reservedSlots: 1,
      isPredicting: false,
      buffer: 1,
      idleCores: 0,
      objectivesMs: { interactive: 700, normal: 900, bulk: 120_000 },
      holdMs: 20_000,
      holdsLong: true,
      zeroAfterMs: 300_000,
      startLimitMs: Infinity,
      startMaxMs: Infinity,
      drainStepMs: 7000,
    },
  )
})

t.test('pool policy: a minimum in force replaces minReplicas', async (t) => {
  t.match(policyOf(poolObject('web', { autoscaling: { minReplicas: 2 } }).spec, 3), { min: 3 })
})

t.test('pool policy: uses spec.replicas if autoscaling is disabled, and maps spec.paused', async (t) => {
  const { spec } = poolObject('web', { autoscaling: { enabled: false }, replicas: 5, paused: true })
  t.match(policyOf(spec), { size: 5, isPaused: true })
})
