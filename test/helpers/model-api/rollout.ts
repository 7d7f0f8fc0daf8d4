import { type Backstage, targetOf } from './controller.ts'
import { at, type Stored, type Tree } from './object.ts'

const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas'
const mostAnnotation = 'deployment.kubernetes.io/max-replicas'

/** A Deployment whose pods are of more than one template. */
export type Rollout = {
  readonly deployment: Stored
  /** The ReplicaSet of the newest template; undefined before it is made. */
  readonly current: Stored | undefined
  /** The others that have pods, or are to have some. */
  readonly old: readonly Stored[]
}

/** How many pods an object is to have. */
export const wantedOf = (object: Stored): number => Number(at(object, 'spec', 'replicas') ?? 0)

/** A number of an object's status; 0 where it is left out. */
export const countOf = (object: Stored, field: string): number => Number(at(object, 'status', field) ?? 0)

/** The sum of one number of each. */
export const sum = (all: readonly Stored[], of: (each: Stored) => number): number =>
  all.reduce((total, each) => total + of(each), 0)

/** By how many pods a rollout may go above and below the size. */
const leeway = (deployment: Stored) => {
  const wanted = wantedOf(deployment)
  const share = (field: string, round: (value: number) => number): number => {
    const given = at(deployment, 'spec', 'strategy', 'rollingUpdate', field) ?? '25%'
    return typeof given === 'string' ? round((wanted * Number.parseFloat(given)) / 100) : Number(given)
  }
  const surge = share('maxSurge', Math.ceil)
  const unavailable = share('maxUnavailable', Math.floor)
  return { surge: wanted === 0 ? 0 : surge, unavailable: surge + unavailable === 0 ? 1 : unavailable }
}

/** What a ReplicaSet says of the Deployment's size, by which a later change of it is noticed. */
export const sizeAnnotations = (deployment: Stored) => ({
  [desiredAnnotation]: String(wantedOf(deployment)),
  [mostAnnotation]: String(wantedOf(deployment) + leeway(deployment).surge),
})

const isResized = ({ deployment, current, old }: Rollout): boolean =>
  [...old, ...(current && wantedOf(current) > 0 ? [current] : [])].some(
    ({ metadata }) => metadata.annotations?.[desiredAnnotation] !== String(wantedOf(deployment)),
  )

const resize = ({ server }: Backstage, deployment: Stored, set: Stored, replicas: number) =>
  server.edit(targetOf(server, set), (live) => ({
    ...live,
    metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, ...sizeAnnotations(deployment) } },
    spec: { ...(live['spec'] as Tree), replicas },
  }))

/** One step from what is to what should be. */
export const stepRollout = (backstage: Backstage, rollout: Rollout): void => {
  const { deployment, current, old } = rollout
  if (isResized(rollout)) spread(backstage, rollout)
  else if (!current) return
  else if (old.length > 0) roll(backstage, { deployment, current, old })
  else if (wantedOf(current) !== wantedOf(deployment)) resize(backstage, deployment, current, wantedOf(deployment))
}

/** A Deployment that is resized in the middle of a rollout: every ReplicaSet gets its share of the change. */
const spread = (backstage: Backstage, { deployment, current, old }: Rollout) => {
  const active = [...old, ...(current && wantedOf(current) > 0 ? [current] : [])]
  const [only] = active
  if (only && active.length === 1) {
    resize(backstage, deployment, only, wantedOf(deployment))
    return
  }
  const isDone =
    current &&
    wantedOf(current) === wantedOf(deployment) &&
    countOf(current, 'availableReplicas') === wantedOf(deployment)
  if (isDone) {
    for (const set of old) resize(backstage, deployment, set, 0)
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
    resize(backstage, deployment, set, Math.max(0, size + (index === 0 ? toAdd - added : 0)))
}

/** New pods as far as the surge allows, old ones gone as far as enough are available. */
const roll = (backstage: Backstage, { deployment, current, old }: Rollout & { readonly current: Stored }) => {
  const wanted = wantedOf(deployment)
  const { surge, unavailable } = leeway(deployment)
  const total = wantedOf(current) + sum(old, wantedOf)
  const room = Math.max(0, Math.min(wanted + surge - total, wanted - wantedOf(current)))
  const next = Math.min(wanted, wantedOf(current) + room)
  if (next !== wantedOf(current)) resize(backstage, deployment, current, next)

  const leastAvailable = wanted - unavailable
  const missing = wantedOf(current) - countOf(current, 'availableReplicas')
  let spare = Math.max(0, total - leastAvailable - Math.max(0, missing))
  let surplus = sum([current, ...old], (set) => countOf(set, 'availableReplicas')) - leastAvailable
  for (const set of old) {
    const available = Math.min(wantedOf(set), countOf(set, 'availableReplicas'))
    const unhealthy = Math.min(spare, wantedOf(set) - available)
    const healthy = Math.max(0, Math.min(spare - unhealthy, surplus, available))
    if (unhealthy + healthy > 0) resize(backstage, deployment, set, wantedOf(set) - unhealthy - healthy)
    spare -= unhealthy + healthy
    surplus -= healthy
  }
}
