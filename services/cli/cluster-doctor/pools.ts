import { type BrowserPool, browserPools } from '#shared/kube/browser-pool.ts'
import type { Cluster, PartResult, Problem } from './cluster.ts'
import type { Installation } from './installation.ts'
import { type Condition, conditionOf, kinds, type Named } from './objects.ts'

const podsAdvice = '`kubectl get pods` there, and `kubectl describe` one that is not ready'
const ledgerAdvice = 'see deployments: ledger and NATS report the queue, `kubectl logs` of the ledger has the reason'

/** Advice by the reason of a pool's condition. */
const reasonAdvice: Readonly<Record<string, string>> = {
  ImagePull: "push the workers' image to the registry, or name its Secret in image.pullSecrets",
  Unschedulable: "add nodes, or lower the resources of the pool's template",
  WaitingForNodes: 'wait for the node autoscaler; without one add nodes',
  ConfigError:
    'a Secret, one of its keys, or the seccomp or AppArmor profile is missing on the node: `kubectl describe pod`; the profile is that of workers.seccompProfile, workers.appArmorProfile',
  CrashLooping:
    '`kubectl logs` of a worker names what it lacks: namespaces, seccomp profile, mounts that AppArmor denies (workers.appArmorProfile), egress or NATS',
  PodsRefused: 'admission refuses the pods: `kubectl get events`, then workers.podSecurity or workers.admissionPolicy',
  SizedByAnother:
    'let the HorizontalPodAutoscaler or ScaledObject name the BrowserPool, with its autoscaling off, or delete it',
  InvalidSchedule: 'correct the schedule in the BrowserPool, or in the values of the pool',
  QuotaExceeded: 'raise the ResourceQuota of the namespace, or lower the maximum of the pool',
  AtMaximum: 'raise the maximum of the pool if captures wait for long',
  PoolTaken: 'two BrowserPools name one queue: delete one',
  ApplyFailed: '`kubectl logs` of the controller has what the API server refused',
  RolloutFailed: 'change the template, or roll back; the previous workers keep running',
  BacklogUnknown: ledgerAdvice,
  MissingHeartbeats: ledgerAdvice,
  Paused: 'set spec.paused to false',
  QueuePaused: 'captures wait until the pause ends: the console under Pools shows who paused it, until when and why',
}

type ConditionRule = {
  readonly type: string
  readonly when: 'True' | 'False'
  readonly as: 'problem' | 'warning'
  readonly reason?: string
}

/** Conditions that report a problem; of several with the same reason only the first is shown. */
const conditionRules: readonly ConditionRule[] = [
  { type: 'Stalled', when: 'True', as: 'problem' },
  { type: 'Degraded', when: 'True', as: 'problem' },
  { type: 'MetricsAvailable', when: 'False', as: 'problem' },
  { type: 'Ready', when: 'False', as: 'problem' },
  { type: 'ScalingLimited', when: 'True', as: 'warning' },
  { type: 'ScalingActive', when: 'False', as: 'warning', reason: 'QueuePaused' },
]

const toProblem = ({ metadata }: Named, { type, status, reason = '', message = '' }: Condition): Problem => ({
  detail: `${metadata.name} is ${type}=${status}, ${reason}: ${message}`,
  advice: `${reasonAdvice[reason] ?? podsAdvice} (namespace ${metadata.namespace})`,
})

const checkPool = (pool: BrowserPool): Required<PartResult> => {
  const { metadata, spec, status } = pool
  const { readyReplicas = 0, replicas = 0, queue } = status ?? {}
  const summary = `${metadata.name}: ${readyReplicas} of ${replicas} workers ready, ${queue ?? 'unknown'} waiting`
  if (!status?.conditions || (status.observedGeneration ?? 0) < metadata.generation) {
    const detail = `${metadata.name}: no controller has looked at it${status ? ' since it was changed' : ''}`
    const advice = 'see deployments: the controller must run, with SHUTTERFLEET_POOLS_NAMESPACE set to that of the pool'
    return { summary, problems: [{ detail, advice }], warnings: [] }
  }
  const reported = conditionRules.flatMap(({ type, when, as, reason }) => {
    const condition = conditionOf(pool, type)
    const applies = condition?.status === when && (reason === undefined || condition.reason === reason)
    return applies ? [{ condition, as }] : []
  })
  // One cause sets several conditions.
  const first = reported.filter(
    ({ condition }, index) => reported.findIndex((each) => each.condition.reason === condition.reason) === index,
  )
  const isProblem = ({ as, condition }: (typeof reported)[number]) =>
    as === 'problem' || condition.reason === 'QuotaExceeded'
  const paused = { detail: `${metadata.name} is paused`, advice: reasonAdvice['Paused'] ?? '' }
  return {
    summary,
    problems: first.filter(isProblem).map(({ condition }) => toProblem(pool, condition)),
    warnings: [
      ...first.filter((each) => !isProblem(each)).map(({ condition }) => toProblem(pool, condition)),
      ...(spec.paused ? [paused] : []),
    ],
  }
}

/** Checks that each BrowserPool matches its spec, and that one serves the queue `standard`. */
export const checkPools = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const namespace = installation.workersNamespace
  const pools = await cluster.list<BrowserPool>(browserPools, { namespace })
  const results = pools.map(checkPool)
  const unserved = pools.some(({ spec }) => spec.pool === 'standard')
    ? []
    : [
        {
          detail: `no BrowserPool in ${namespace} serves the queue standard: its captures wait`,
          advice: 'set pools.standard.enabled, or apply one such as k8s/pools/standard.yaml',
        },
      ]
  return {
    summary: results.map(({ summary }) => summary).join('; '),
    problems: [...unserved, ...results.flatMap(({ problems }) => problems)],
    warnings: results.flatMap(({ warnings }) => warnings),
  }
}

/** Suffixes by power: 1000, or 1024 with an `i`, to the power of index + 1. */
const suffixes = ['k', 'M', 'G', 'T', 'P']

const parseFactor = (suffix: string): number => {
  if (suffix === '') return 1
  if (suffix === 'm') return 1e-3
  const power = suffixes.indexOf(suffix.charAt(0).replace('K', 'k')) + 1
  return power === 0 ? Number.NaN : (suffix.endsWith('i') ? 1024 : 1000) ** power
}

/** Parses a Kubernetes quantity such as `500m` or `2Gi`; NaN if it is invalid. */
export const quantity = (text: string): number => {
  const [, digits = '', suffix = ''] = /^([0-9.]+)([a-zA-Z]*)$/.exec(text) ?? []
  return digits === '' ? Number.NaN : Number(digits) * parseFactor(suffix)
}

type Quota = Named & {
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly used?: Readonly<Record<string, string>>
  }
}

/** Checks that no ResourceQuota of the two namespaces is used up. */
export const checkQuotas = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const namespaces = [...new Set([installation.namespace, installation.workersNamespace])]
  const lists = namespaces.map((namespace) => cluster.list<Quota>(kinds.quotas, { namespace }))
  const quotas = (await Promise.all(lists)).flat()
  const problems = quotas.flatMap(({ metadata: { name, namespace }, status: { hard = {}, used = {} } = {} }) =>
    Object.entries(hard).flatMap(([resource, limit]) => {
      const current = used[resource] ?? '0'
      if (!(quantity(current) >= quantity(limit))) return []
      const detail = `${name} in ${namespace} is full: ${resource} ${current} of ${limit}`
      return [{ detail, advice: 'raise it, with room for a rolling update, or lower the maximum of the pools' }]
    }),
  )
  return { summary: quotas.length === 0 ? 'there are none' : `${quotas.length} with room`, problems }
}
