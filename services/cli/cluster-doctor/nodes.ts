import type { KubeObject } from '#shared/kube/resource.ts'
import { type Cluster, failing, type PartResult } from './cluster.ts'
import { type Condition, conditionOf, kinds } from './objects.ts'

/** Fields of a node that decide whether the workers' sandbox can run on it. */
export type Node = KubeObject & {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly nodeInfo?: {
      readonly kubeletVersion?: string
      readonly kernelVersion?: string
      readonly containerRuntimeVersion?: string
    }
    readonly runtimeHandlers?: readonly {
      readonly name: string
      readonly features?: { readonly userNamespaces?: boolean }
    }[]
  }
}

/** Minimum versions for pods with user namespaces and an unmasked `/proc`; unknown for runtimes other than containerd. */
const needs = [
  { what: 'kubelet', least: [1, 33], form: /^v(\d{1,6})\.(\d{1,6})/, field: 'kubeletVersion' },
  { what: 'Linux', least: [6, 3], form: /^(\d{1,6})\.(\d{1,6})/, field: 'kernelVersion' },
  {
    what: 'containerd',
    least: [2, 0],
    form: /^containerd:\/\/v?(\d{1,6})\.(\d{1,6})/,
    field: 'containerRuntimeVersion',
  },
] as const

/** The reasons why a node cannot run the workers' sandbox; an unreadable version is not counted. */
export const sandboxProblems = ({ status }: Node): readonly string[] => {
  const old = needs.flatMap(({ what, least, form, field }) => {
    const [, major, minor] = (form.exec(status?.nodeInfo?.[field] ?? '') ?? []).map(Number)
    if (major === undefined || minor === undefined) return []
    const isOld = major < least[0] || (major === least[0] && minor < least[1])
    return isOld ? [`${what} ${major}.${minor}, ${least.join('.')} is needed`] : []
  })
  const handler = status?.runtimeHandlers?.find(({ name }) => name === '')
  return handler?.features?.userNamespaces === false ? [...old, 'its runtime has no user namespaces'] : old
}

const isSchedulable = (node: Node) => conditionOf(node, 'Ready')?.status === 'True' && node.spec?.unschedulable !== true

/** Checks that some node can isolate browsers as `isolation` requires. */
export const checkNodes = async (cluster: Cluster, isolation: string): Promise<PartResult> => {
  const nodes = await cluster.list<Node>(kinds.nodes)
  const schedulable = nodes.filter(isSchedulable)
  if (schedulable.length === 0) {
    const advice = '`kubectl get nodes`; `kubectl uncordon` those that were drained'
    return failing(`none of ${nodes.length} is Ready and takes pods`, advice)
  }
  const count = `${schedulable.length} of ${nodes.length} take pods`
  if (isolation !== 'namespace') return { summary: `${count}; isolation ${isolation} has no requirements for nodes` }
  const unfit = schedulable.flatMap((node) => {
    const problems = sandboxProblems(node)
    return problems.length === 0 ? [] : [`${node.metadata.name}: ${problems.join('; ')}`]
  })
  const named = unfit.slice(0, 5).join(', ') + (unfit.length > 5 ? ` and ${unfit.length - 5} more` : '')
  const summary = `${count}, ${schedulable.length - unfit.length} can run the sandbox; only a worker's events show whether the seccomp profile, and where AppArmor is enabled its profile, are on them`
  if (unfit.length === schedulable.length) {
    const advice = 'use newer nodes, or workers.isolation=flags-only (see docs/kubernetes.md)'
    return failing(`none can run the sandbox of workers: ${named}`, advice)
  }
  const advice = 'keep workers from them with a nodeSelector in the template of the pools'
  return {
    summary,
    warnings: unfit.length === 0 ? [] : [{ detail: `the sandbox cannot run on: ${named}`, advice }],
  }
}
