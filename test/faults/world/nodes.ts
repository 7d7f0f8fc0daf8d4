import type { Clock } from '#controller/kube/clock.ts'
import { at, type Stored } from '#test/helpers/model-api/object.ts'

/** Which nodes there are, and which come. */
export type NodesOptions = {
  /** One node in each of these zones from the beginning. */
  readonly zones: readonly string[]
  /** Pods that a node has room for. */
  readonly room: number
  /** How long a node takes to arrive that pods without room have asked for; without it none comes. */
  readonly provisionMs?: { readonly least: number; readonly spread: number }
}

type Node = { readonly name: string; readonly zone: string }

/** The nodes of a cluster and their autoscaler: pods without room make new ones arrive. */
export class Nodes {
  readonly #deps: { readonly clock: Clock; readonly random: () => number }
  readonly #options: NodesOptions
  #nodes: Node[]
  /** Pods for which no room was found, by uid, and nodes that were asked for and have not arrived. */
  readonly #waiting = new Set<string>()
  #arriving = 0
  #made = 0

  constructor(deps: { clock: Clock; random: () => number }, options: NodesOptions) {
    this.#deps = deps
    this.#options = options
    this.#nodes = options.zones.map((zone) => this.#make(zone))
  }

  /** Nodes that pods may get. */
  get names(): readonly string[] {
    return this.#nodes.map(({ name }) => name)
  }

  /** The node with the most room left for a pod; undefined where none has any, which makes one arrive. */
  place(pod: Stored, beside: readonly Stored[]): string | undefined {
    const used = (node: Node) => beside.filter((each) => at(each, 'spec', 'nodeName') === node.name).length
    const [best] = this.#nodes.filter((node) => used(node) < this.#options.room).toSorted((a, b) => used(a) - used(b))
    if (best) this.#waiting.delete(pod.metadata.uid)
    else this.#ask(pod.metadata.uid)
    return best?.name
  }

  /** Takes the nodes of a zone away from the scheduler; answers their names. */
  cordon(zone: string): readonly string[] {
    const gone = this.#nodes.filter((node) => node.zone === zone)
    this.#nodes = this.#nodes.filter((node) => node.zone !== zone)
    return gone.map(({ name }) => name)
  }

  #make(zone: string): Node {
    this.#made += 1
    return { name: `node-${this.#made}`, zone }
  }

  #ask(uid: string) {
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
