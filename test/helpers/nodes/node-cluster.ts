import type { ClusterOptions, TestCluster, WithTeardown } from '#test/helpers/cluster.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { nodeName } from '#test/helpers/cluster-programs.ts'
import { openNodeNetwork, type NodeNetwork } from './network.ts'
import { type RealNode, startNode } from './real-node.ts'

/** A control plane with real nodes on this machine. */
export type NodeCluster = TestCluster & {
  readonly network: NodeNetwork
  readonly nodes: readonly RealNode[]
}

/**
 * Starts a control plane and `count` nodes with images of `.tools/images`, and resolves once they are Ready. Stopped at the
 * test's end. Needs root, and what scripts/build-node-runtime.sh and scripts/build-images.sh build.
 */
export const startNodeCluster = async (
  t: WithTeardown,
  { count, images, ...options }: { readonly count: number; readonly images: readonly string[] } & ClusterOptions,
): Promise<NodeCluster> => {
  const opened = new AsyncDisposableStack()
  t.teardown(() => opened.disposeAsync())
  const network = opened.use(await openNodeNetwork())
  const cluster = opened.use(await startCluster(undefined, { ...options, network, nodes: count }))
  const indexes = Array.from({ length: count }, (_, each) => each + 1)
  const nodes = await Promise.all(
    indexes.map(async (index) => opened.use(await startNode(cluster.place, network, { index, of: count, images }))),
  )
  const names = indexes.map(nodeName)
  await cluster.kubectl(['wait', 'node', ...names, '--for=create', '--timeout=30s'])
  await cluster.kubectl(['wait', 'node', ...names, '--for=condition=Ready', '--timeout=30s'])
  return { ...cluster, network, nodes, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
