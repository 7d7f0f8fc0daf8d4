import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodeCluster } from './node-cluster.ts'

const perNode = 3
const capacity = { storage: '10Gi' }
const storageClassName = 'local'

/** Adds three local volumes to each current node, and a default StorageClass for them. */
export const addLocalVolumes = async ({ nodes, place, apply }: NodeCluster): Promise<void> => {
  await apply({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: storageClassName, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner',
    // Binds a claim on a node where its pod can run.
    volumeBindingMode: 'WaitForFirstConsumer',
  })
  const names = nodes.flatMap(({ name }) =>
    Array.from({ length: perNode }, (_, each) => [name, `${name}-${each}`] as const),
  )
  for (const [node, name] of names) {
    const path = join(place.folder, `volume-${name}`)
    await mkdir(path)
    const isOnNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] }
    await apply({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        capacity,
        storageClassName,
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isOnNode] }] } },
      },
    })
  }
}
