import type { NodeCluster } from './node-cluster.ts'
import { packetFilterOf, type Policy, policyChain, type PolicyWorld } from './packet-filter.ts'
import { readApi } from './read-api.ts'

const lookMs = 500
const hooks = ['FORWARD', 'INPUT']

type Labels = Readonly<Record<string, string>>
type ListOf<T> = { readonly items: readonly T[] }
type Named = { readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Labels } }
type Pod = Named & { readonly status: { readonly podIP?: string; readonly phase: string } }

/**
 * Enforces a cluster's NetworkPolicies on its nodes, as the agent of a network plugin would, until disposed; polls for
 * changes twice a second. Resolves once the current policies are enforced.
 */
export const enforceNetworkPolicies = async (cluster: NodeCluster): Promise<AsyncDisposable> => {
  const generations = new Map<string, string>()
  const look = async () => {
    const text = packetFilterOf(await readWorld(cluster))
    for (const { name, inNetwork } of cluster.nodes) {
      if (generations.get(name) === text) continue
      await inNetwork(['iptables-restore', '--noflush', '--wait'], text)
      for (const hook of hooks) {
        if (!generations.has(name)) await inNetwork(['iptables', '--wait', '-I', hook, '-j', policyChain])
      }
      generations.set(name, text)
    }
  }
  await look()
  const stop = new AbortController()
  const running = (async () => {
    while (!stop.signal.aborted) {
      await new Promise((wake) => setTimeout(wake, lookMs))
      // A busy API server or a removed node: the next poll retries.
      await look().catch(() => {})
    }
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
      for (const { inNetwork } of cluster.nodes) {
        for (const hook of hooks) await inNetwork(['iptables', '--wait', '-D', hook, '-j', policyChain])
      }
    },
  }
}

const readWorld = async ({ place }: NodeCluster): Promise<PolicyWorld> => {
  const list = async <T>(path: string) => (await readApi<ListOf<T>>(place, path))?.items ?? []
  const [policies, pods, namespaces] = await Promise.all([
    list<Policy>('/apis/networking.k8s.io/v1/networkpolicies'),
    list<Pod>('/api/v1/pods'),
    list<Named>('/api/v1/namespaces'),
  ])
  return {
    policies,
    pods: pods.flatMap(({ metadata: { namespace, labels = {} }, status: { podIP, phase } }) =>
      // The address of a terminated pod may be in use by another pod.
      podIP === undefined || phase === 'Succeeded' || phase === 'Failed' ? [] : [{ address: podIP, namespace, labels }],
    ),
    namespaces: Object.fromEntries(namespaces.map(({ metadata: { name, labels = {} } }) => [name, labels])),
  }
}
