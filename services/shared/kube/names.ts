import { createHash } from 'node:crypto'

/** API group of this project's resources. */
export const apiGroup = 'shutterfleet.dev'

/** Field manager of every field that the controller applies, except the size of a Deployment. */
export const fieldOwner = 'shutterfleet-controller'

/** Field manager of the size of a Deployment from its creation on, so that applying the other fields never resets it. */
export const replicasOwner = 'shutterfleet-controller-replicas'

/** Reporter of the events. */
export const reportingController = `${apiGroup}/controller`

/** The Lease that all controllers of a namespace compete for, whatever their installation: it guards the namespace's BrowserPools. */
export const leaseName = 'shutterfleet-controller'

/** Label of a Job: the capture that it has claimed. */
export const captureLabel = `${apiGroup}/capture`

/** Annotation of objects that the controller applies: hash of what it applied. */
export const appliedAnnotation = `${apiGroup}/applied`

/** Annotation of pods: a ReplicaSet deletes those with the lowest number first. */
export const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

const nameCharsMax = 63
const hashChars = 8

/**
 * Joins `parts` with `-` to a DNS-1123 label of at most 63 characters. If characters had to be replaced or cut, a
 * hash is appended, so that different parts have different labels.
 */
export const objectName = (...parts: readonly [string, ...string[]]): string => {
  const plain = parts.join('-')
  const fitting = plain
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  if (plain !== '' && fitting === plain && plain.length <= nameCharsMax) return plain
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, hashChars)
  const shortened = fitting.slice(0, nameCharsMax - hashChars - 1).replace(/-+$/, '')
  return shortened === '' ? `x-${hash}` : `${shortened}-${hash}`
}

/** Name of the Deployment of a pool's workers and of their disruption budget. */
export const workersName = (pool: string): string => objectName('shutterfleet', pool)

const instanceLabel = 'app.kubernetes.io/instance'
const poolLabel = `${apiGroup}/pool`

/** Selector of a pool's workers. It must never change: a Deployment's selector is immutable. */
export const poolSelector = (instance: string, pool: string): Readonly<Record<string, string>> => ({
  [instanceLabel]: instance,
  [poolLabel]: objectName(pool),
})

/** Labels of every object that the controller creates for a pool, its pods included. */
export const poolLabels = (instance: string, pool: string): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': 'shutterfleet',
  'app.kubernetes.io/component': 'worker',
  'app.kubernetes.io/managed-by': fieldOwner,
  ...poolSelector(instance, pool),
})

/** Selector of the objects of all pools of an installation. */
export const managedSelector = (instance: string): string =>
  labelSelector({ 'app.kubernetes.io/managed-by': fieldOwner, [instanceLabel]: instance })

/** The pool of an object with these labels, as `objectName` writes it; undefined if they name none. */
export const labelledPool = (labels: Readonly<Record<string, string>> | undefined): string | undefined =>
  labels?.[poolLabel]

/** Selector of objects that have all of `labels`. */
export const labelSelector = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
