import {
  browserPools,
  type BrowserPool,
  type PoolCondition,
  type PoolConditionType,
} from '#shared/kube/browser-pool.ts'
import { workersName } from '#shared/kube/names.ts'
import { at } from '#test/helpers/model-api/object.ts'
import { keyIn } from '#test/helpers/model-api/store.ts'
import type { World } from './world.ts'

const namespace = 'default'

/** A BrowserPool as `kubectl get` shows it. */
export const poolOf = ({ model }: World, name: string): BrowserPool => {
  const { apiVersion, plural } = browserPools
  const pool: object | undefined = model.server.store.get(`${apiVersion}/${plural}`, keyIn(namespace, name))
  return pool as BrowserPool
}

/** A condition of a BrowserPool. */
export const conditionOf = (world: World, name: string, type: PoolConditionType): PoolCondition | undefined =>
  poolOf(world, name).status?.conditions?.find((condition) => condition.type === type)

/** The `spec.replicas` of a pool's Deployment. */
export const sizeOf = ({ model }: World, name: string): number =>
  Number(
    at(model.server.store.get('apps/v1/deployments', keyIn(namespace, workersName(name))), 'spec', 'replicas') ?? 0,
  )

/** The number of workers that take captures, whatever the state of their pods. */
export const readyWorkers = ({ workers }: World): number =>
  workers().filter(({ lifecycle }) => lifecycle.state() === 'ready').length

/** Names of all Jobs. */
export const jobsOf = ({ model }: World): readonly string[] =>
  model.server.store.all('batch/v1/jobs').map(({ metadata }) => metadata.name)
