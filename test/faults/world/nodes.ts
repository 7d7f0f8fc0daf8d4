import type { Clock } from '#controller/kube/clock.ts'
import { at, type Stored } from '#test/helpers/model-api/object.ts'

/** The initial nodes, and those that the autoscaler provisions. */
export type NodesOptions = {
  /** Zones with one initial node each. */
  readonly zones: readonly string[]
  /** Maximum number of pods per node. */
  readonly room: number
  /** Time until the autoscaler has provisioned a node for unschedulable pods; undefined: there is no autoscaler. */
  readonly provisionMs?: { readonly least: number; readonly spread: number }
}

type Node = { readonly name: string; readonly zone: string }

/** The nodes of a cluster and their autoscaler, which provisions nodes for unschedulable pods. */
export class Nodes {
  readonly #deps: { readonly clock: Clock; readonly random: () => number }
  readonly #options: NodesOptions
  #nodes: Node[]
  /** Unschedulable pods, by uid, and the number of nodes that are being provisioned. */
  readonly #waiting = new Set<string>()
  #arriving = 0
  #made = 0

  constructor(deps: { clock: Clock; random: () => number }, options: NodesOptions) {
    this.#deps = deps
    this.#options = options
    this.#nodes = options.zones.map((zone) => this.#make(zone))
  }

  /** Names of the schedulable nodes. */
  get names(): readonly string[] {
    return this.#nodes.map(({ name }) => name)
  }

  /** The name of the node with the most room; undefined if all are full, which provisions a node. */
  place(pod: Stored, beside: readonly Stored[]): string | undefined {
    const used = (node: Node) => beside.filter((each) => at(each, 'spec', 'nodeName') === node.name).length
    const [best] = this.#nodes.filter((node) => used(node) < this.#options.room).toSorted((a, b) => used(a) - used(b))
    if (best) this.#waiting.delete(pod.metadata.uid)
    else this.#provision(pod.metadata.uid)
    return best?.name
  }

  /** Removes the nodes of a zone from the scheduler; returns their names. */
  cordon(zone: string): readonly string[] {
    const gone = this.#nodes.filter((node) => node.zone === zone)
    this.#nodes = this.#nodes.filter((node) => node.zone !== zone)
    return gone.map(({ name }) => name)
  }

  #make(zone: string): Node {
    this.#made += 1
    return { name: `node-${this.#made}`, zone }
  }

  #provision(uid: string) {
    const { provisionMs, room, zones } = this.#options
    this.#waiting.add(uid)
    if (!provisionMs || this.#arriving * room >= this.#waiting.size) return
    this.#arriving += 1
    this.#deps.clock.after(provisionMs.least + this.#deps.random() * provisionMs.spread, () => {
      this.#arriving -= 1
      this.#nodes.push(this.#make(zones[this.#made % zones.length] ?? 'a'))
    })
  }
}
