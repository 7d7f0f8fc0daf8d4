import { createHash } from 'node:crypto'

/** Group of this project's own kinds of objects. */
export const apiGroup = 'shutterfleet.dev'

/** Field manager of every field that the controller applies, except the size of a Deployment. */
export const fieldOwner = 'shutterfleet-controller'

/** Field manager of the size of a Deployment from its creation on, so that applying the rest never takes it back. */
export const replicasOwner = 'shutterfleet-controller-replicas'

/** Reporter of the events. */
export const reportingController = `${apiGroup}/controller`

/** The Lease that the controllers of a namespace compete for, of whatever installation: it guards the BrowserPools of the namespace. */
export const leaseName = 'shutterfleet-controller'

/** Label of a Job: the capture that it has claimed. */
export const captureLabel = `${apiGroup}/capture`

/** Annotation of what the controller applies: what it applied, as a hash. */
export const appliedAnnotation = `${apiGroup}/applied`

/** Annotation of pods: a ReplicaSet deletes those with the lowest number first. */
export const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

const nameCharsMax = 63
const hashChars = 8

/**
 * A DNS-1123 label of `parts`, joined by `-`, of at most 63 characters. Where something had to be replaced or cut, a hash
 * ends it, so that what differed still differs.
 */
export const objectName = (...parts: readonly [string, ...string[]]): string => {
  const plain = parts.join('-')
  const fitting = plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  if (plain !== '' && fitting === plain && plain.length <= nameCharsMax) return plain
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, hashChars)
  const kept = fitting.slice(0, nameCharsMax - hashChars - 1).replace(/-+$/, '')
  return kept === '' ? `x-${hash}` : `${kept}-${hash}`
}

/** Name of the Deployment of a pool's workers and of their disruption budget. */
export const workersName = (pool: string): string => objectName('shutterfleet', pool)

const instanceLabel = 'app.kubernetes.io/instance'
const poolLabel = `${apiGroup}/pool`

/** By which the workers of a pool are selected for good: a Deployment's selector cannot be changed. */
export const poolSelector = (instance: string, pool: string): Readonly<Record<string, string>> => ({
  [instanceLabel]: instance,
  [poolLabel]: objectName(pool),
})

/** Labels of everything that the controller makes for a pool; those of its pods among them. */
export const poolLabels = (instance: string, pool: string): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'shutterfleet',
  'app.kubernetes.io/component': 'worker',
  'app.kubernetes.io/managed-by': fieldOwner,
  ...poolSelector(instance, pool),
})

/** What the objects of all pools of an installation have in common, as a selector. */
export const managedSelector = (instance: string): string =>
  selectorOf({ 'app.kubernetes.io/managed-by': fieldOwner, [instanceLabel]: instance })

/** The pool that an object with such labels belongs to, as `objectName` writes it. */
export const labelledPool = (labels: Readonly<Record<string, string>> | undefined): string | undefined =>
  labels?.[poolLabel]

/** A selector that finds what carries all of `labels`. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
