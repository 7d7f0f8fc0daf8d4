import { type ControllerDeps, targetOf } from './controller.ts'
import { at, type Stored, type JsonObject } from './object.ts'

const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas'
const mostAnnotation = 'deployment.kubernetes.io/max-replicas'

/** A Deployment with pods of more than one template. */
export type Rollout = {
  readonly deployment: Stored
  /** The ReplicaSet of the newest template; undefined before it is created. */
  readonly current: Stored | undefined
  /** Older ReplicaSets that have or want pods. */
  readonly old: readonly Stored[]
}

/** Desired number of replicas; 0 by default. */
export const wantedOf = (object: Stored): number => Number(at(object, 'spec', 'replicas') ?? 0)

/** A number of an object's status; 0 if it is missing. */
export const countOf = (object: Stored, field: string): number => Number(at(object, 'status', field) ?? 0)

/** The sum of one number of each. */
export const sum = (all: readonly Stored[], count: (each: Stored) => number): number =>
  all.reduce((total, each) => total + count(each), 0)

/** maxSurge and maxUnavailable of a Deployment, in pods. */
const leeway = (deployment: Stored) => {
  const desired = wantedOf(deployment)
  const share = (field: string, round: (value: number) => number): number => {
    const setting = at(deployment, 'spec', 'strategy', 'rollingUpdate', field) ?? '25%'
    return typeof setting === 'string' ? round((desired * Number.parseFloat(setting)) / 100) : Number(setting)
  }
  const surge = share('maxSurge', Math.ceil)
  const unavailable = share('maxUnavailable', Math.floor)
  return { surge: desired === 0 ? 0 : surge, unavailable: surge + unavailable === 0 ? 1 : unavailable }
}

/** Annotations of a ReplicaSet with the Deployment's size, to detect a later resize. */
export const sizeAnnotations = (deployment: Stored) => ({
  [desiredAnnotation]: String(wantedOf(deployment)),
  [mostAnnotation]: String(wantedOf(deployment) + leeway(deployment).surge),
})

const isResized = ({ deployment, current, old }: Rollout): boolean =>
  [...old, ...(current && wantedOf(current) > 0 ? [current] : [])].some(
    ({ metadata }) => metadata.annotations?.[desiredAnnotation] !== String(wantedOf(deployment)),
  )

const resize = ({ server }: ControllerDeps, deployment: Stored, set: Stored, replicas: number) =>
  server.edit(targetOf(server, set), (live) => ({
    ...live,
    metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, ...sizeAnnotations(deployment) } },
    spec: { ...(live['spec'] as JsonObject), replicas },
  }))

/** Performs one step of a rollout. */
export const stepRollout = (deps: ControllerDeps, rollout: Rollout): void => {
  const { deployment, current, old } = rollout
  if (isResized(rollout)) spread(deps, rollout)
  else if (!current) return
  else if (old.length > 0) roll(deps, { deployment, current, old })
  else if (wantedOf(current) !== wantedOf(deployment)) resize(deps, deployment, current, wantedOf(deployment))
}

/** Distributes a resize during a rollout proportionally among the ReplicaSets. */
const spread = (deps: ControllerDeps, { deployment, current, old }: Rollout) => {
  const active = [...old, ...(current && wantedOf(current) > 0 ? [current] : [])]
  const [only] = active
  if (only && active.length === 1) {
    resize(deps, deployment, only, wantedOf(deployment))
    return
  }
  const isDone =
    current &&
    wantedOf(current) === wantedOf(deployment) &&
    countOf(current, 'availableReplicas') === wantedOf(deployment)
  if (isDone) {
    for (const set of old) resize(deps, deployment, set, 0)
    return
  }
  const most = wantedOf(deployment) + leeway(deployment).surge
  const toAdd = most - sum(active, wantedOf)
  const isNewer = (one: Stored, other: Stored) =>
    one.metadata.creationTimestamp > other.metadata.creationTimestamp ? -1 : 1
  const order = active.toSorted(
    (one, other) => wantedOf(other) - wantedOf(one) || isNewer(one, other) * Math.sign(toAdd || 1),
  )
  let added = 0
  const sizes = order.map((set) => {
    const before = Number(set.metadata.annotations?.[mostAnnotation] ?? wantedOf(deployment))
    const share = Math.round((wantedOf(set) * most) / before) - wantedOf(set)
    const left = toAdd - added
    const part = toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    added += part
    return { set, size: wantedOf(set) + part }
  })
  for (const [index, { set, size }] of sizes.entries())
    resize(deps, deployment, set, Math.max(0, size + (index === 0 ? toAdd - added : 0)))
}

/** Adds new pods up to the surge, and removes old pods while enough are available. */
const roll = (deps: ControllerDeps, { deployment, current, old }: Rollout & { readonly current: Stored }) => {
  const desired = wantedOf(deployment)
  const { surge, unavailable } = leeway(deployment)
  const total = wantedOf(current) + sum(old, wantedOf)
  const room = Math.max(0, Math.min(desired + surge - total, desired - wantedOf(current)))
  const next = Math.min(desired, wantedOf(current) + room)
  if (next !== wantedOf(current)) resize(deps, deployment, current, next)

  const leastAvailable = desired - unavailable
  const missing = wantedOf(current) - countOf(current, 'availableReplicas')
  let spare = Math.max(0, total - leastAvailable - Math.max(0, missing))
  let surplus = sum([current, ...old], (set) => countOf(set, 'availableReplicas')) - leastAvailable
  for (const set of old) {
    const available = Math.min(wantedOf(set), countOf(set, 'availableReplicas'))
    const unhealthy = Math.min(spare, wantedOf(set) - available)
    const healthy = Math.max(0, Math.min(spare - unhealthy, surplus, available))
    if (unhealthy + healthy > 0) resize(deps, deployment, set, wantedOf(set) - unhealthy - healthy)
    spare -= unhealthy + healthy
    surplus -= healthy
  }
}
