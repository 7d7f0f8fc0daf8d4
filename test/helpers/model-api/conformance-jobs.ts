import type { KubeApi, Patch } from '#shared/kube/client.ts'
import { allOf, find, listBy, make, one, outcome, resources, saidOf, type Scenario, type Stage } from './conformance.ts'
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
const merge = (body: object): Patch => ({ kind: 'merge', body, fieldManager: 'somebody' })

const isOver = (job: Stored | undefined) =>
  job !== undefined && saidOf(job).some((word) => /^(Complete|Failed) True/.test(word))

/** Waits until a Job has finished, and returns its conditions and pod counts. */
const ending = async ({ api, until }: Stage, name: string) => {
  let job: Stored | undefined
  await until(`${name} is over`, async () => isOver((job = await find(api, one(jobs, name)))))
  const status = at(job, 'status')
  const counts = ['active', 'ready', 'terminating', 'succeeded', 'failed'].map((field) => at(status, field) ?? 0)
  return { said: job && saidOf(job), counts, hasTime: at(status, 'completionTime') !== undefined }
}

const running = async ({ api, until }: Stage, name: string): Promise<Stored> => {
  let pod: Stored | undefined
  await until(`${name} runs`, async () => {
    pod = (await podsOf(api, name))[0]
    return at(pod, 'status', 'phase') === 'Running'
  })
  return pod as Stored
}

const succeeding = async (stage: Stage) => {
  const { api, until } = stage
  const made = await create(api, 'succeeds', 200, { ttlSecondsAfterFinished: 2 })
  const seen = await ending(stage, 'succeeds')
  const [pod] = await podsOf(api, 'succeeds')
  const held = pod?.metadata.finalizers ?? []
  await until('it is gone', async () => (await find(api, one(jobs, 'succeeds'))) === undefined)
  return { seen, held, left: (await podsOf(api, 'succeeds')).length, generation: made.metadata.generation }
}

const failing = async (stage: Stage) => {
  const { api } = stage
  await create(api, 'fails', hour)
  const pod = await running(stage, 'fails')
  const active = at(await api.get<Stored>(one(jobs, 'fails')), 'status', 'active')
  const terminated = {
    exitCode: 7,
    reason: 'Error',
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: '2026-01-01T00:00:01Z',
  }
  const containerStatuses = [
    { name: 'one', image: 'a', imageID: 'a', ready: false, restartCount: 0, state: { terminated } },
  ]
  const ref = { ...one(pods, pod.metadata.name), subresource: 'status' as const }
  await api.patch(ref, merge({ status: { phase: 'Failed', containerStatuses } }))
  return { active, seen: await ending(stage, 'fails'), pods: (await podsOf(api, 'fails')).length }
}

const disrupted = async (stage: Stage) => {
  const { api } = stage
  await create(api, 'disrupted', hour)
  const pod = await running(stage, 'disrupted')
  const { conditions } = pod['status'] as { conditions: object[] }
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'Test',
    message: 'x',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const ref = { ...one(pods, pod.metadata.name), subresource: 'status' as const }
  await api.patch(ref, merge({ status: { phase: 'Failed', reason: 'Evicted', conditions: [...conditions, target] } }))
  return ending(stage, 'disrupted')
}

const tooLong = async (stage: Stage) => {
  await create(stage.api, 'too-long', hour, { activeDeadlineSeconds: 3 })
  await running(stage, 'too-long')
  const seen = await ending(stage, 'too-long')
  return { said: seen.said, pods: (await podsOf(stage.api, 'too-long')).length }
}

const deleting = async (stage: Stage) => {
  const { api, until } = stage
  for (const name of ['deleted', 'orphaning']) {
    await create(api, name, hour)
    await running(stage, name)
  }
  await api.remove(one(jobs, 'deleted'), { propagation: 'Background' })
  await until('its pod is gone', async () => (await podsOf(api, 'deleted')).length === 0)
  await api.remove(one(jobs, 'orphaning'))
  await until('it is gone', async () => (await find(api, one(jobs, 'orphaning'))) === undefined)
  const [left] = await podsOf(api, 'orphaning')
  return [left?.metadata.ownerReferences ?? 'no owner', left?.metadata.finalizers ?? 'no finalizer']
}

const refusing = async (stage: Stage) => {
  const { api, until, wait } = stage
  await create(api, 'twice', hour)
  const label = merge({ metadata: { labels: { capture: 'x' } } })
  const image = merge({ spec: { template: { spec: { containers: [{ name: 'one', image: 'b' }] } } } })
  const seen = [
    await outcome(create(api, 'twice', hour)),
    await outcome(api.patch(one(jobs, 'twice'), label)),
    await outcome(api.patch(one(jobs, 'twice'), image)),
    (await api.get<Stored>(one(jobs, 'twice'))).metadata.generation,
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
  await api.patch(one(resources.quotas, 'few-jobs'), merge({ spec: { hard: { pods: '0', 'count/jobs.batch': null } } }))
  await wait(2000)
  await create(api, 'no-pod', hour)
  await wait(2000)
  const job = await api.get<Stored>(one(jobs, 'no-pod'))
  seen.push((await podsOf(api, 'no-pod')).length, at(job, 'status', 'active') as number, saidOf(job).length)
  await api.remove(one(resources.quotas, 'few-jobs'))
  await running(stage, 'no-pod')
  return seen.map((each) => each ?? 'nothing')
}

export const jobScenarios: readonly Scenario[] = [
  { name: 'ends a Job whose pod succeeds, and removes it in time', play: succeeding },
  { name: 'fails a Job for the exit code of its pod', play: failing },
  { name: 'fails a Job whose pod is disrupted', play: disrupted },
  { name: 'fails a Job that takes too long', play: tooLong },
  { name: 'orphans the pods of a Job unless told otherwise', play: deleting },
  { name: 'refuses Jobs and their pods', play: refusing },
]
