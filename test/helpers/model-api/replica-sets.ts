import { type ControllerDeps, controlledBy, ownedBy, startController, targetOf } from './controller.ts'
import { at, type Stored, timeText, type JsonObject } from './object.ts'
import { compareForRemoval, type Condition, conditionsOf, holds, isActive, withCondition } from './pods.ts'
import { StatusError } from './status-error.ts'
import { keyOfStored, type Controller } from './controller.ts'

const pods = 'v1/pods'

/**
 * The pods in a controller's cache, which receives changes in order with a lag: a recent write may be missing when the
 * controller chooses.
 */
const laggingView = ({ server, clock, lagMs }: ControllerDeps) => {
  const known = new Map<string, Stored>()
  let heardMs = 0
  server.store.listen((resource, { type, object }) => {
    if (resource !== pods) return
    heardMs = Math.max(heardMs, clock.nowMs() + lagMs())
    clock.after(heardMs - clock.nowMs(), () => {
      if (type === 'DELETED') known.delete(keyOfStored(object))
      else known.set(keyOfStored(object), object)
    })
  })
  return (pod: Stored): Stored => {
    const last = known.get(keyOfStored(pod))
    return last?.metadata.uid === pod.metadata.uid ? last : pod
  }
}

/** Simulates the ReplicaSet controller: keeps the wanted number of pods and removes them in the real controller's order. */
export const startReplicaSets = (deps: ControllerDeps): Controller => {
  const { server, clock } = deps
  const viewed = laggingView(deps)
  const now = () => timeText(clock.date())

  const createPods = (set: Stored, count: number): StatusError | undefined => {
    const template = at(set, 'spec', 'template') as JsonObject
    const metadata = { ...(template['metadata'] as JsonObject), generateName: `${set.metadata.name}-`, ...ownedBy(set) }
    try {
      for (let created = 0; created < count; created += 1)
        server.create(server.kind(pods), set.metadata.namespace, { metadata, spec: template['spec'] })
    } catch (thrown) {
      if (thrown instanceof StatusError) return thrown
      throw thrown
    }
    return undefined
  }

  const updateStatus = (set: Stored, createError: StatusError | undefined) => {
    const active = controlledBy(server, pods, set).filter(isActive)
    const ready = active.filter((pod) => holds(pod, 'Ready')).length
    server.edit(targetOf(server, set, 'status'), (live) => {
      const status = {
        replicas: active.length,
        ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
        observedGeneration: set.metadata.generation,
        conditions: failureConditions(live, createError, now()),
      }
      return { ...live, status }
    })
  }

  const sync = (_key: string, set: Stored | undefined) => {
    if (!set || set.metadata.deletionTimestamp !== undefined) return undefined
    const active = controlledBy(server, pods, set).filter(isActive)
    const surplus = active.length - Number(at(set, 'spec', 'replicas'))
    const createError = surplus < 0 ? createPods(set, -surplus) : undefined
    if (surplus > 0) {
      const order = active.toSorted((one, other) => compareForRemoval(viewed(one), viewed(other)))
      for (const pod of order.slice(0, surplus)) server.remove(targetOf(server, pod))
    }
    updateStatus(set, createError)
    if (createError) throw createError
    return undefined
  }
  return startController(deps, { resource: 'apps/v1/replicasets', dependents: [pods], sync })
}

const failureConditions = (set: Stored, createError: StatusError | undefined, time: string): readonly Condition[] => {
  const others = conditionsOf(set).filter(({ type }) => type !== 'ReplicaFailure')
  if (!createError) return others
  // The first message stays, although later rejections name other pods.
  if (others.length < conditionsOf(set).length) return conditionsOf(set)
  const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: createError.message }
  return withCondition(set, condition, time)
}
