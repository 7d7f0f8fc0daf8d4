import type { SimulatedPod } from '#cli/simulation/pods.ts'
import type { Driver } from '#cli/simulation/simulate.ts'
import type { Law } from './law.ts'

/** Pods that a smaller size ends: those that do not run yet, then those that run least, then the youngest. */
const victims = (pods: readonly SimulatedPod[], count: number): readonly SimulatedPod[] =>
  pods
    .toSorted(
      (one, other) =>
        Number(one.state === 'ready') - Number(other.state === 'ready') ||
        one.serving.size - other.serving.size ||
        other.createdMs - one.createdMs,
    )
    .slice(0, count)

/** Follows a law as a Deployment does whose pods finish what they run. Kinder to the law than Kubernetes, which ends busy pods too. */
export const driveByLaw = (law: Law): Driver => ({
  everyMs: law.everyMs,
  wakesFromZero: law.wakesFromZero,
  endsDrained: true,
  isSingleUse: law.kind === 'jobs',
  act: (pool) => {
    const wanted = law.size(pool.sight())
    if (law.kind === 'jobs') return pool.create(wanted)
    const { min, max } = pool.scenario.bounds
    const pods = pool.pods.filter(({ state }) => state !== 'draining')
    const missing = Math.max(min, Math.min(max, wanted)) - pods.length
    if (missing > 0) return pool.create(missing)
    for (const pod of victims(pods, -missing)) {
      if (pod.state === 'ready') pool.drain(pod)
      else pool.remove(pod)
    }
  },
})
