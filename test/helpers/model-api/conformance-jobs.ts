import type { KubeApi, Patch } from '#shared/kube/client.ts'
import {
  allOf,
  find,
  listBy,
  make,
  refOf,
  outcome,
  resources,
  conditionSummaries,
  type Scenario,
  type Environment,
} from './conformance.ts'
import { at, type Stored } from './object.ts'

const { jobs, pods } = resources

const rules = [
  { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
  { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [0] } },
]

/** Creates a Job whose pod completes after `lastsMs`. */
const create = (api: KubeApi, name: string, lastsMs: number, more: object = {}) => {
  const annotations = { 'pod-complete.stage.kwok.x-k8s.io/delay': `${lastsMs}ms` }
  const template = {
    metadata: { annotations },
    spec: { restartPolicy: 'Never', containers: [{ name: 'one', image: 'a' }] },
  }
  const spec = { backoffLimit: 0, podReplacementPolicy: 'Failed', podFailurePolicy: { rules }, template, ...more }
  const object = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec }
  return make(api, jobs, object)
}

const hour = 3_600_000
const podsOf = (api: KubeApi, name: string) => listBy(api, pods, `batch.kubernetes.io/job-name=${name}`)
const merge = (body: object): Patch => ({ kind: 'merge', body, fieldManager: 'other-manager' })

const isFinished = (job: Stored | undefined) =>
  job !== undefined && conditionSummaries(job).some((each) => /^(Complete|Failed) True/.test(each))

/** Waits until a Job has finished, and returns its conditions and pod counts. */
const awaitFinished = async ({ api, until }: Environment, name: string) => {
  let job: Stored | undefined
  await until(`${name} has finished`, async () => isFinished((job = await find(api, refOf(jobs, name)))))
  const status = at(job, 'status')
  const counts = ['active', 'ready', 'terminating', 'succeeded', 'failed'].map((field) => at(status, field) ?? 0)
  return { conditions: job && conditionSummaries(job), counts, hasTime: at(status, 'completionTime') !== undefined }
}

const awaitRunning = async ({ api, until }: Environment, name: string): Promise<Stored> => {
  let pod: Stored | undefined
  await until(`${name} runs`, async () => {
    pod = (await podsOf(api, name))[0]
    return at(pod, 'status', 'phase') === 'Running'
  })
  return pod as Stored
}

const succeeding = async (environment: Environment) => {
  const { api, until } = environment
  const created = await create(api, 'succeeds', 200, { ttlSecondsAfterFinished: 2 })
  const states = await awaitFinished(environment, 'succeeds')
  const [pod] = await podsOf(api, 'succeeds')
  const held = pod?.metadata.finalizers ?? []
  await until('it is removed', async () => (await find(api, refOf(jobs, 'succeeds'))) === undefined)
  return { seen: states, held, left: (await podsOf(api, 'succeeds')).length, generation: created.metadata.generation }
}

const failing = async (environment: Environment) => {
  const { api } = environment
  await create(api, 'fails', hour)
  const pod = await awaitRunning(environment, 'fails')
  const active = at(await api.get<Stored>(refOf(jobs, 'fails')), 'status', 'active')
  const terminated = {
    exitCode: 7,
    reason: 'Error',
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: '2026-01-01T00:00:01Z',
  }
  const containerStatuses = [
    { name: 'one', image: 'a', imageID: 'a', ready: false, restartCount: 0, state: { terminated } },
  ]
  const ref = { ...refOf(pods, pod.metadata.name), subresource: 'status' as const }
  await api.patch(ref, merge({ status: { phase: 'Failed', containerStatuses } }))
  return { active, seen: await awaitFinished(environment, 'fails'), pods: (await podsOf(api, 'fails')).length }
}

const disrupted = async (environment: Environment) => {
  const { api } = environment
  await create(api, 'disrupted', hour)
  const pod = await awaitRunning(environment, 'disrupted')
  const { conditions } = pod['status'] as { conditions: object[] }
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'Test',
    message: 'x',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const ref = { ...refOf(pods, pod.metadata.name), subresource: 'status' as const }
  await api.patch(ref, merge({ status: { phase: 'Failed', reason: 'Evicted', conditions: [...conditions, target] } }))
  return awaitFinished(environment, 'disrupted')
}

const deadlineExceeded = async (environment: Environment) => {
  await create(environment.api, 'too-long', hour, { activeDeadlineSeconds: 3 })
  await awaitRunning(environment, 'too-long')
  const states = await awaitFinished(environment, 'too-long')
  return { conditions: states.conditions, pods: (await podsOf(environment.api, 'too-long')).length }
}

/** Deletes the pod of a Job that no node has room for: a node has 32 cores. */
const unscheduled = async (environment: Environment) => {
  const { api, until } = environment
  const one = { name: 'one', image: 'a', resources: { requests: { cpu: '33' } } }
  await create(api, 'unscheduled', hour, { template: { spec: { restartPolicy: 'Never', containers: [one] } } })
  let pod: Stored | undefined
  await until('its pod is unschedulable', async () => {
    pod = (await podsOf(api, 'unscheduled'))[0]
    return pod !== undefined && conditionSummaries(pod).includes('PodScheduled False Unschedulable')
  })
  await api.remove(refOf(pods, pod?.metadata.name ?? ''))
  const states = await awaitFinished(environment, 'unscheduled')
  await until('its pod is gone', async () => (await podsOf(api, 'unscheduled')).length === 0)
  return states
}

const deleting = async (environment: Environment) => {
  const { api, until } = environment
  for (const name of ['deleted', 'orphaning']) {
    await create(api, name, hour)
    await awaitRunning(environment, name)
  }
  await api.remove(refOf(jobs, 'deleted'), { propagation: 'Background' })
  await until('its pod is gone', async () => (await podsOf(api, 'deleted')).length === 0)
  await api.remove(refOf(jobs, 'orphaning'))
  await until('it is removed', async () => (await find(api, refOf(jobs, 'orphaning'))) === undefined)
  const [left] = await podsOf(api, 'orphaning')
  return [left?.metadata.ownerReferences ?? 'no owner', left?.metadata.finalizers ?? 'no finalizer']
}

const refusing = async (environment: Environment) => {
  const { api, until, wait } = environment
  await create(api, 'twice', hour)
  const label = merge({ metadata: { labels: { capture: 'x' } } })
  const image = merge({ spec: { template: { spec: { containers: [{ name: 'one', image: 'b' }] } } } })
  const states = [
    await outcome(create(api, 'twice', hour)),
    await outcome(api.patch(refOf(jobs, 'twice'), label)),
    await outcome(api.patch(refOf(jobs, 'twice'), image)),
    (await api.get<Stored>(refOf(jobs, 'twice'))).metadata.generation,
  ]
  const others = (await api.list(allOf(jobs), { limit: 500 })).items.length
  const { apiVersion, kind } = resources.quotas
  const quota = {
    apiVersion,
    kind,
    metadata: { name: 'few-jobs' },
    spec: { hard: { 'count/jobs.batch': `${others}` } },
  }
  await api.create(allOf(resources.quotas), quota)
  let tried = 0
  await until('the quota holds', async () => (await outcome(create(api, `probe-${(tried += 1)}`, hour))) === 'quota')
  await api.patch(
    refOf(resources.quotas, 'few-jobs'),
    merge({ spec: { hard: { pods: '0', 'count/jobs.batch': null } } }),
  )
  await wait(2000)
  await create(api, 'no-pod', hour)
  await wait(2000)
  const job = await api.get<Stored>(refOf(jobs, 'no-pod'))
  states.push(
    (await podsOf(api, 'no-pod')).length,
    at(job, 'status', 'active') as number,
    conditionSummaries(job).length,
  )
  await api.remove(refOf(resources.quotas, 'few-jobs'))
  await awaitRunning(environment, 'no-pod')
  return states.map((each) => each ?? 'nothing')
}

export const jobScenarios: readonly Scenario[] = [
  { name: 'completes a Job whose pod succeeds, and removes it after its TTL', run: succeeding },
  { name: 'fails a Job for the exit code of its pod', run: failing },
  { name: 'fails a Job whose pod is disrupted', run: disrupted },
  { name: 'fails a Job that exceeds its active deadline', run: deadlineExceeded },
  { name: 'fails a Job whose pod is deleted before it has a node', run: unscheduled },
  { name: 'orphans the pods of a Job by default', run: deleting },
  { name: 'rejects duplicate, immutable and over-quota changes of Jobs', run: refusing },
]
