import type { TestCluster, WithTeardown } from '#test/helpers/cluster.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { startClusterDns } from './cluster-dns.ts'
import { openNodeNetwork, type NodeNetwork } from './network.ts'
import { type NodeImages, type RealNode, startNode } from './real-node.ts'

/** A control plane with real nodes on this machine, and DNS for its Services. */
export type NodeCluster = TestCluster & {
  readonly network: NodeNetwork
  readonly nodes: readonly RealNode[]
  /** Starts one of the `later` nodes, and resolves once it is Ready. */
  readonly addNode: () => Promise<RealNode>
}

/**
 * Starts a control plane and `count` nodes with the images `has`, and resolves once they are Ready; `later` more may be added.
 * Stopped at the test's end. Needs root, and what scripts/build-node-runtime.sh and scripts/build-images.sh build.
 */
export const startNodeCluster = async (
  t: WithTeardown,
  { count, later = 0, has = 'all' }: { readonly count: number; readonly later?: number; readonly has?: NodeImages },
): Promise<NodeCluster> => {
  const opened = new AsyncDisposableStack()
  t.teardown(() => opened.disposeAsync())
  const network = opened.use(await openNodeNetwork())
  const cluster = opened.use(await startCluster(undefined, { network, nodes: count + later }))
  opened.use(await startClusterDns(cluster.place, network.address))
  const nodes: RealNode[] = []
  const start = async (index: number) => {
    const node = opened.use(await startNode(cluster.place, network, { index, nodeCount: count + later, has }))
    await cluster.kubectl(['wait', 'node', node.name, '--for=create', '--timeout=30s'])
    await cluster.kubectl(['wait', 'node', node.name, '--for=condition=Ready', '--timeout=30s'])
    return node
  }
  nodes.push(...(await Promise.all(Array.from({ length: count }, (_, each) => start(each + 1)))))
  await network.routeServices(1)
  const addNode = async () => {
    if (nodes.length === count + later) throw new Error(`all ${count + later} nodes have been started`)
    const node = await start(nodes.length + 1)
    nodes.push(node)
    return node
  }
  return { ...cluster, network, nodes, addNode, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
