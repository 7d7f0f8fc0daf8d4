import { appliedAnnotation } from '#shared/kube/names.ts'
import type { childFields } from './deployment.ts'
import type { SeenChild } from './seen-deployment.ts'

/**
 * Whether an object has to be applied. `specHash` is that of the object as it was after our last apply; undefined where this
 * process has made none, as after taking over: then only what somebody else decides in its spec is a reason to look closer.
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
