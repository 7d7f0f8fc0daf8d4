import { appliedAnnotation } from '#shared/kube/names.ts'
import type { childFields } from '#controller/operator/manifests/deployment.ts'
import type { SeenChild } from '#controller/operator/watch/observed-deployment.ts'

/**
 * Whether an object has to be applied. `specHash` is that of the object when it was last as it should be; undefined where this
 * process has not seen it so, as after taking over: then only what somebody else decides in its spec is a reason.
 */
export const needsApply = (
  seen: SeenChild,
  wanted: ReturnType<typeof childFields>,
  specHash: string | undefined,
): boolean => {
  const { labels = {}, annotations = {} } = wanted.metadata ?? {}
  if (seen.applied !== annotations[appliedAnnotation]) return true
  if (Object.entries(labels).some(([name, value]) => seen.metadata.labels?.[name] !== value)) return true
  return specHash === undefined ? seen.hasForeignSpec : seen.specHash !== specHash
}
