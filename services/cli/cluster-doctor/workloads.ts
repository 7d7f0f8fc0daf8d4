import { serviceNames } from '#shared/config/services.ts'
import type { Cluster, PartResult, Problem } from './cluster.ts'
import { type Installation, releaseObjects, upgradeCommand } from './installation.ts'
import { type Condition, conditionOf, kinds, type Pod, type Workload, readComponent } from './objects.ts'

const imageAdvice = 'push the image to the registry in image.registry, and name its Secret in image.pullSecrets'
const startAdvice = 'a Secret or one of its keys is missing: see secrets, then `kubectl describe pod`'

/** Advice by the reason of a waiting container. */
const waitAdvice: Readonly<Record<string, string>> = {
  ImagePullBackOff: imageAdvice,
  ErrImagePull: imageAdvice,
  ErrImageNeverPull: imageAdvice,
  InvalidImageName: imageAdvice,
  CreateContainerConfigError: startAdvice,
  CreateContainerError: startAdvice,
  ContainerCreating: startAdvice,
  PodInitializing: 'its init container waits: `kubectl logs POD -c migrate` has the reason',
}

/** Reason and message of a pod's first waiting container, init containers first. */
const waitingIn = ({ status = {} }: Pod) =>
  [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].flatMap(
    ({ state }) => state?.waiting ?? [],
  )[0]

/** Kubernetes' reason why a pod is not ready, with advice; undefined if it is ready. */
const podProblem = (pod: Pod): Problem | undefined => {
  const { name, namespace } = pod.metadata
  if (conditionOf(pod, 'Ready')?.status === 'True') return undefined
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False') {
    return { detail: `${name} has no node: ${scheduled.message}`, advice: 'add nodes, or lower its resources' }
  }
  const { reason = 'not ready', message } = waitingIn(pod) ?? {}
  const previous = reason === 'CrashLoopBackOff' ? ' --previous' : ''
  const logs = `\`kubectl logs -n ${namespace} ${name} --all-containers${previous}\` has the reason`
  return { detail: `${name} is ${reason}${message ? ` (${message})` : ''}`, advice: waitAdvice[reason] ?? logs }
}

const isRolledOut = ({ metadata, spec: { replicas = 1 }, status = {} }: Workload) =>
  (status.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
  (status.updatedReplicas ?? 0) >= replicas &&
  (status.readyReplicas ?? 0) >= replicas

const workloadProblem = (workload: Workload, pods: readonly Pod[]): Problem | undefined => {
  if (isRolledOut(workload)) return undefined
  const { metadata, spec, status = {} } = workload
  const own = pods.filter((pod) => readComponent(pod) === readComponent(workload))
  const first = own.flatMap((pod) => podProblem(pod) ?? [])[0]
  const { replicas = 1 } = spec
  const refused: Condition | undefined = conditionOf(workload, 'ReplicaFailure')
  const reason = first?.detail ?? refused?.message ?? 'its pods are starting'
  return {
    detail: `${metadata.name}: ${status.readyReplicas ?? 0} of ${replicas} pods ready, ${status.updatedReplicas ?? 0} of this revision; ${reason}`,
    advice:
      first?.advice ??
      `\`kubectl rollout status -n ${metadata.namespace} deployment/${metadata.name}\`, then its events`,
  }
}

/** Checks that each service of the release exists, with all pods ready and of its latest revision. */
export const checkDeployments = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const objects = releaseObjects(installation)
  const [deployments, statefulSets, pods] = await Promise.all([
    cluster.list<Workload>(kinds.deployments, objects),
    cluster.list<Workload>(kinds.statefulSets, objects),
    cluster.list<Pod>(kinds.pods, objects),
  ])
  const workloads = [...deployments, ...statefulSets]
  const missing = serviceNames
    .filter((component) => !deployments.some((each) => readComponent(each) === component))
    .map((component) => ({
      detail: `the Deployment of ${component} is missing`,
      advice: `${upgradeCommand(installation)} recreates it`,
    }))
  const problems = [...missing, ...workloads.flatMap((each) => workloadProblem(each, pods) ?? [])]
  return { summary: `${workloads.length} with all their pods ready`, problems }
}

/** Checks that no Job or hook of the release has failed; Helm deletes completed hooks. */
export const checkJobs = async (cluster: Cluster, installation: Installation): Promise<PartResult> => {
  const jobs = await cluster.list<Workload>(kinds.jobs, releaseObjects(installation))
  const problems = jobs.flatMap((job) => {
    const failed = conditionOf(job, 'Failed')
    if (failed?.status !== 'True') return []
    const { name } = job.metadata
    const advice = `\`kubectl logs -n ${installation.namespace} job/${name} --all-pods\` has the reason; then helm upgrade runs it again`
    return [{ detail: `${name} failed: ${failed.message ?? failed.reason ?? 'no reason given'}`, advice }]
  })
  const running = jobs.filter((job) => !conditionOf(job, 'Failed') && !conditionOf(job, 'Complete'))
  const names = running.map(({ metadata }) => metadata.name).join(', ')
  return { summary: running.length === 0 ? 'none has failed' : `none has failed; running: ${names}`, problems }
}
