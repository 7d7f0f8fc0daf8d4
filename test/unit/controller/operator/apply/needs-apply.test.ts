import t from 'tap'
import { deploymentFields } from '#controller/operator/manifests/deployment.ts'
import { needsApply } from '#controller/operator/apply/needs-apply.ts'
import type { SeenChild } from '#controller/operator/watch/observed-deployment.ts'
import { appliedAnnotation, poolLabels } from '#shared/kube/names.ts'
import { podSettings, poolObject } from '#test/helpers/kube-objects.ts'

const wanted = deploymentFields(poolObject(), podSettings)
const applied = wanted.metadata?.annotations?.[appliedAnnotation] ?? ''
const seen = (
  more: Partial<SeenChild> = {},
  labels: Readonly<Record<string, string>> = poolLabels('shutterfleet', 'web'),
): SeenChild => ({
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', labels },
  applied,
  specHash: 'after',
  hasForeignSpec: false,
  ...more,
})

t.test('what is as it was after the last apply is left alone', async (t) => {
  t.notOk(needsApply(seen(), wanted, 'after'))
  t.notOk(needsApply(seen({ hasForeignSpec: true }), wanted, 'after'), 'what others added then is known')
})

t.test('what is to be otherwise, what lost a label, and what somebody changed is applied', async (t) => {
  t.ok(needsApply(seen({ applied: 'other' }), wanted, 'after'))
  t.ok(needsApply(seen({}, {}), wanted, 'after'))
  t.ok(needsApply(seen({ specHash: 'edited' }), wanted, 'after'))
  const { applied: _, ...unowned } = seen()
  t.ok(needsApply(unowned, wanted, 'after'))
})

t.test('after taking over, only what a stranger decides is a reason', async (t) => {
  t.notOk(needsApply(seen(), wanted, undefined))
  t.ok(needsApply(seen({ hasForeignSpec: true }), wanted, undefined))
})
