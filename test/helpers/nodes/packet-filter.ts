type Labels = Readonly<Record<string, string>>
type Selector = { readonly matchLabels?: Labels; readonly matchExpressions?: unknown }
type Peer = {
  readonly podSelector?: Selector
  readonly namespaceSelector?: Selector
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
}
type Port = { readonly port?: number; readonly protocol?: string }
type Rule = { readonly from?: readonly Peer[]; readonly to?: readonly Peer[]; readonly ports?: readonly Port[] }

/** The fields of a NetworkPolicy that the chart uses. */
export type Policy = {
  readonly metadata: { readonly namespace: string }
  readonly spec: {
    readonly podSelector: Selector
    readonly policyTypes: readonly ('Ingress' | 'Egress')[]
    readonly ingress?: readonly Rule[]
    readonly egress?: readonly Rule[]
  }
}

/** A pod that is not on the host network. */
export type PodWithAddress = { readonly address: string; readonly namespace: string; readonly labels: Labels }

/** The objects that NetworkPolicies depend on. */
export type PolicyWorld = {
  readonly policies: readonly Policy[]
  readonly pods: readonly PodWithAddress[]
  /** Labels of each namespace. */
  readonly namespaces: Readonly<Record<string, Labels>>
}

/** The chain that packets from and to pods pass. */
export const policyChain = 'policies'
/** Packet mark of an allowed packet; kube-proxy uses other marks. */
const allowedMark = '0x10000/0x10000'

const directions = [
  { type: 'Egress', rules: 'egress', peers: 'to', pod: '-s', peer: '-d' },
  { type: 'Ingress', rules: 'ingress', peers: 'from', pod: '-d', peer: '-s' },
] as const
type Direction = (typeof directions)[number]

const isSelected = ({ matchLabels = {}, matchExpressions }: Selector, labels: Labels): boolean => {
  if (matchExpressions !== undefined)
    throw new Error('matchExpressions in a NetworkPolicy podSelector or namespaceSelector is not supported')
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
}

/** Whether a peer of a policy in `namespace` selects a pod. */
const isPeer = (world: PolicyWorld, { podSelector, namespaceSelector }: Peer, namespace: string, pod: PodWithAddress) =>
  (namespaceSelector
    ? isSelected(namespaceSelector, world.namespaces[pod.namespace] ?? {})
    : pod.namespace === namespace) && isSelected(podSelector ?? {}, pod.labels)

/**
 * The input of `iptables-restore --noflush` that enforces NetworkPolicies on a node (IPv4, peers and selectors of the chart;
 * throws on others). Rejects a packet of a selected pod unless a rule of a policy allows it, in each direction.
 */
export const packetFilterOf = (world: PolicyWorld): string => {
  const chains = new Map<string, string[]>()
  const chain = (name: string, lines: readonly string[]) => {
    chains.set(name, [...lines])
    return name
  }
  const top = ['-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN']
  for (const direction of directions) {
    const policies = world.policies
      .filter(({ spec }) => spec.policyTypes.includes(direction.type))
      .map((policy, index) => ({ policy, name: chain(`${direction.type}-${index}`, []) }))
    for (const { policy, name } of policies) chain(name, linesOf(world, policy, direction, { name, chain }))
    for (const pod of world.pods) {
      const own = policies.filter(({ policy: { metadata, spec } }) => {
        return metadata.namespace === pod.namespace && isSelected(spec.podSelector, pod.labels)
      })
      if (own.length === 0) continue
      const judged = chain(`${direction.type}-${pod.address}`, [
        '-j MARK --set-xmark 0x0/0x10000',
        ...own.map(({ name }) => `-j ${name}`),
        `-m mark ! --mark ${allowedMark} -j REJECT --reject-with icmp-admin-prohibited`,
      ])
      top.push(`${direction.pod} ${pod.address} -j ${judged}`)
    }
  }
  chain(policyChain, top)
  const names = [...chains.keys()].map((name) => `:${name} -`)
  const lines = [...chains].flatMap(([name, rules]) => rules.map((rule) => `-A ${name} ${rule}`))
  return ['*filter', ...names, ...lines, 'COMMIT', ''].join('\n')
}

type Chains = { readonly name: string; readonly chain: (name: string, lines: readonly string[]) => string }

/** Rules for what a policy allows in a direction; address blocks with exceptions get a separate chain. */
const linesOf = (world: PolicyWorld, { metadata, spec }: Policy, direction: Direction, { name, chain }: Chains) =>
  (spec[direction.rules] ?? []).flatMap((rule, index) => {
    const ports = rule.ports?.map(portMatch) ?? ['']
    const peers = rule[direction.peers]
    if (!peers) return ports.map((port) => `${port} -j MARK --set-xmark ${allowedMark}`)
    return peers.flatMap((peer, place) => {
      const { ipBlock } = peer
      if (!ipBlock) {
        const pods = world.pods.filter((pod) => isPeer(world, peer, metadata.namespace, pod))
        return pods.flatMap(({ address }) =>
          ports.map((port) => `${direction.peer} ${address} ${port} -j MARK --set-xmark ${allowedMark}`),
        )
      }
      if (ipBlock.cidr.includes(':')) return []
      const block = chain(`${name}-${index}-${place}`, [
        ...(ipBlock.except ?? []).map((network) => `${direction.peer} ${network} -j RETURN`),
        ...ports.map((port) => `${port} -j MARK --set-xmark ${allowedMark}`),
      ])
      return [`${direction.peer} ${ipBlock.cidr} -j ${block}`]
    })
  })

const portMatch = ({ port, protocol = 'TCP' }: Port): string =>
  `-p ${protocol.toLowerCase()}${port === undefined ? '' : ` --dport ${port}`}`
