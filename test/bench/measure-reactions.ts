import type { TestCluster } from '#test/helpers/cluster.ts'
import { createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { workersName } from '#shared/kube/names.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { recordJobs } from '#test/helpers/job-record.ts'
import { type OperatorCluster, startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import type { OperatorProcess } from '#test/helpers/operator-process.ts'

/** How much is measured. */
export type ReactionsWorkload = {
  readonly scaleRounds: number
  readonly jobRounds: number
  readonly handoverRounds: number
  /** A release has 15. */
  readonly leaseSeconds: number
}

type Sized = KubeObject & { readonly spec: { readonly replicas: number } }

/** Milliseconds of each round. */
export type Reactions = {
  readonly scale: readonly number[]
  readonly job: readonly number[]
  readonly handoverInOrder: readonly number[]
  readonly handoverAfterKill: readonly number[]
}

/** Sizes of all Deployments, as the API server reports them at once. */
const watchSizes = ({ kubeconfig }: TestCluster) => {
  const connection = openConnection({ kubeconfig, userAgent: 'bench' })
  const sizes = new Map<string, number>()
  let notify = () => {}
  const reflector = new Reflector<Sized>(
    {
      api: createKubeApi(connection),
      clock: systemClock,
      random: Math.random,
      changed: ({ object }) => {
        sizes.set(object.metadata?.name ?? '', object.spec.replicas)
        notify()
      },
      events: { listed: () => {}, ended: () => {} },
    },
    { resource: { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }, namespace: 'default' },
  )
  return {
    /** Resolves with the time at which the pool's Deployment had this size. */
    untilSize: (pool: string, size: number) =>
      new Promise<number>((resolve) => {
        notify = () => {
          if (sizes.get(workersName(pool)) === size) resolve(performance.now())
        }
        notify()
      }),
    [Symbol.asyncDispose]: async () => {
      await reflector[Symbol.asyncDispose]()
      await connection[Symbol.asyncDispose]()
    },
  }
}

type Sizes = ReturnType<typeof watchSizes>

const measureScale = async (world: OperatorCluster, sizes: Sizes, rounds: number): Promise<number[]> => {
  const { applyPool, poolOf, queue } = world
  const autoscaling = { minReplicas: 0, cooldownSeconds: 10, maxReplicas: 4 }
  await applyPool('empty', { autoscaling, scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 } })
  // A controller that has just begun listens for two seconds before it decides.
  await eventually(async () => (await poolOf('empty')).status?.reason !== undefined, {
    what: 'the pool is looked after',
  })
  const took: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await sizes.untilSize('empty', 0)
    const startedMs = performance.now()
    await queue.send(1)
    took.push((await sizes.untilSize('empty', 1)) - startedMs)
    await queue.allEnded()
  }
  return took
}

const measureJobs = async (world: OperatorCluster, rounds: number): Promise<number[]> => {
  await world.applyPool('proxied', { pool: 'proxied' })
  await eventually(() => world.queue.poolStates.get('proxied')?.canStart === true)
  await using record = recordJobs(world, () => 0)
  const took: number[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const startedMs = performance.now()
    await world.queue.send(1, { pool: 'proxied' })
    await eventually(() => record.createdNames.size === round)
    took.push(performance.now() - startedMs)
    await world.queue.allEnded()
    await eventually(() => record.unfinished().length === 0)
  }
  return took
}

const leads = async (operator: OperatorProcess) => (await operator.health()).detail['role'] === 'leader'

/** Ends the leader, then wants another size, and takes the time from the end's beginning until somebody brought it about. */
const measureHandover = async (
  world: OperatorCluster,
  sizes: Sizes,
  from: { readonly leader: OperatorProcess; readonly how: 'stop' | 'kill'; readonly rounds: number },
): Promise<{ took: readonly number[]; leader: OperatorProcess }> => {
  const took: number[] = []
  let { leader } = from
  for (let round = 0; round < from.rounds; round += 1) {
    await eventually(() => leads(leader), { withinMs: 60_000 })
    const next = await world.startAnother(`${from.how}-${round}`)
    await eventually(async () => (await next.health()).ready)
    const size = 2 + (round % 2)
    const startedMs = performance.now()
    await leader[from.how]()
    await world.applyPool('fixed', { replicas: size, autoscaling: { enabled: false } })
    took.push((await sizes.untilSize('fixed', size)) - startedMs)
    leader = next
  }
  return { took, leader }
}

/** Takes the times from an event to what the operator does about it. */
export const measureReactions = async (
  t: Parameters<typeof startOperatorCluster>[0],
  workload: ReactionsWorkload,
): Promise<Reactions> => {
  const { scaleRounds, jobRounds, handoverRounds: rounds, leaseSeconds } = workload
  const world = await startOperatorCluster(t, { settings: { CONTROLLER_LEASE_SECONDS: String(leaseSeconds) } })
  await using sizes = watchSizes(world.cluster)
  const scale = await measureScale(world, sizes, scaleRounds)
  const job = await measureJobs(world, jobRounds)
  await world.applyPool('fixed', { replicas: 1, autoscaling: { enabled: false } })
  await sizes.untilSize('fixed', 1)
  const inOrder = await measureHandover(world, sizes, { leader: world.operator, how: 'stop', rounds })
  await world.applyPool('fixed', { replicas: 1, autoscaling: { enabled: false } })
  await sizes.untilSize('fixed', 1)
  const afterKill = await measureHandover(world, sizes, { leader: inOrder.leader, how: 'kill', rounds })
  return { scale, job, handoverInOrder: inOrder.took, handoverAfterKill: afterKill.took }
}
