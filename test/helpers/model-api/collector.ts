import { type ControllerDeps, type Controller, keyOfStored, startController, targetOf } from './controller.ts'
import type { Stored } from './object.ts'

/** Kinds that may own objects, and kinds that may be owned. */
const owners = ['shutterfleet.dev/v1beta1/browserpools', 'apps/v1/deployments', 'apps/v1/replicasets', 'batch/v1/jobs']
const owned = ['apps/v1/deployments', 'apps/v1/replicasets', 'policy/v1/poddisruptionbudgets', 'v1/pods']

const isOwnedBy =
  ({ metadata: { uid } }: Stored) =>
  ({ metadata }: Stored): boolean =>
    metadata.ownerReferences?.some((owner) => owner.uid === uid) === true

/** Simulates the garbage collector: deletes or orphans the dependents of a deleted object, as its deletion requested. */
export const startCollector = (deps: ControllerDeps): readonly Controller[] => {
  const { server } = deps
  const dependents = (owner: Stored) => owned.flatMap((kind) => server.store.all(kind).filter(isOwnedBy(owner)))
  const live = (uid: string) =>
    owners.flatMap((kind) => server.store.all(kind)).find((each) => each.metadata.uid === uid)
  const unhold = (owner: Stored, finalizer: string) =>
    server.edit(targetOf(server, owner), (object) => {
      const finalizers = object.metadata.finalizers?.filter((each) => each !== finalizer) ?? []
      return { ...object, metadata: { ...object.metadata, finalizers } }
    })

  const syncOwner = (_key: string, owner: Stored | undefined) => {
    if (owner?.metadata.deletionTimestamp === undefined) return undefined
    const below = dependents(owner)
    if (owner.metadata.finalizers?.includes('orphan') === true) {
      for (const each of below) server.edit(targetOf(server, each), withoutOwner(owner))
      unhold(owner, 'orphan')
    }
    if (owner.metadata.finalizers?.includes('foregroundDeletion') !== true) return undefined
    if (below.length === 0) unhold(owner, 'foregroundDeletion')
    for (const each of below)
      if (each.metadata.deletionTimestamp === undefined)
        server.remove(targetOf(server, each), { propagation: each.kind === 'Pod' ? 'Background' : 'Foreground' })
    return undefined
  }

  const syncOwned = (_key: string, object: Stored | undefined) => {
    const [owner] = object?.metadata.ownerReferences ?? []
    if (!object || !owner || object.metadata.deletionTimestamp !== undefined || live(owner.uid)) return undefined
    server.remove(targetOf(server, object), { propagation: 'Background' })
    return undefined
  }

  const ofOwners = owners.map((resource) => startController(deps, { resource, dependents: owned, sync: syncOwner }))
  const ofOwned = owned.map((resource) => ({ resource, ...startController(deps, { resource, sync: syncOwned }) }))
  server.store.listen((_resource, { type, object }) => {
    if (type !== 'DELETED') return
    for (const { resource, enqueue } of ofOwned)
      for (const below of server.store.all(resource).filter(isOwnedBy(object))) enqueue(keyOfStored(below))
  })
  return [...ofOwners, ...ofOwned]
}

const withoutOwner =
  (owner: Stored) =>
  (object: Stored): Stored => {
    const ownerReferences = object.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid) ?? []
    return { ...object, metadata: { ...object.metadata, ownerReferences } }
  }
