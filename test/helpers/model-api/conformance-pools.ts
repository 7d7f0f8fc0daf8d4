import { apply, setReplicas } from '#controller/kube/apply.ts'
import { browserPools } from '#shared/kube/browser-pool.ts'
import type { Patch } from '#shared/kube/client.ts'
import { allOf, make, refOf, outcome, resources, type Scenario, type Environment } from './conformance.ts'
import { at, type Stored } from './object.ts'

const poolOf = (name: string, spec: object = {}) => ({
  apiVersion: browserPools.apiVersion,
  kind: browserPools.kind,
  metadata: { name },
  spec: { pool: 'standard', ...spec },
})
const merge = (body: object): Patch => ({ kind: 'merge', body, fieldManager: 'other-manager' })
const collection = allOf(browserPools)

const defaultsAndPruning = async ({ api }: Environment) => {
  const spec = { autoscaling: { maxReplicas: 7 }, nonsense: 1 }
  const created = await make(api, browserPools, poolOf('filled', spec))
  const { apiVersion, kind, metadata } = (await api.list<Stored>(collection, { limit: 1 })).items[0] ?? created
  return {
    spec: created['spec'],
    listed: [apiVersion, kind, metadata.name],
    refused: [
      await outcome(api.create(collection, poolOf('bad', { replicas: -1 }))),
      await outcome(api.create(collection, poolOf('bad', { pool: 'nonsense' }))),
    ],
  }
}

const generationCounting = async ({ api }: Environment) => {
  const ref = refOf(browserPools, 'versions')
  const generations: unknown[] = []
  const record = (object: Stored) => generations.push([object.metadata.generation, at(object, 'spec', 'replicas')])
  record(await make(api, browserPools, poolOf('versions', { autoscaling: { enabled: false } })))
  record(await api.patch<Stored>(ref, merge({ metadata: { labels: { a: 'b' } } })))
  record(await api.patch<Stored>(ref, merge({ spec: { paused: true } })))
  record(await api.patch<Stored>(ref, merge({ status: { queue: 9 } })))
  const status = { queue: 3, reason: 'steady' }
  const reported = await apply<Stored>(api, { ...ref, subresource: 'status' }, { status })
  record(reported)
  const again = await apply<Stored>(api, { ...ref, subresource: 'status' }, { status })
  const less = await apply<Stored>(api, { ...ref, subresource: 'status' }, { status: { reason: 'steady' } })
  await setReplicas(api, ref, { replicas: 5, manager: 'kubectl' })
  record(await api.get<Stored>(ref))
  return {
    generations,
    statuses: [reported, less].map((object) => object['status']),
    isUntouched: again.metadata.resourceVersion === reported.metadata.resourceVersion,
  }
}

const garbageCollection = async ({ api, until }: Environment) => {
  const pool = await make(api, browserPools, poolOf('owner'))
  const { name, uid } = pool.metadata
  const owner = { apiVersion: browserPools.apiVersion, kind: browserPools.kind, name, uid, controller: true }
  const spec = {
    replicas: 0,
    selector: { matchLabels: { app: 'owned' } },
    template: { metadata: { labels: { app: 'owned' } }, spec: { containers: [{ name: 'one', image: 'a' }] } },
  }
  const metadata = { name: 'below', ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }
  await api.create(allOf(resources.deployments), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec,
  })
  await api.remove(refOf(browserPools, 'owner'))
  const below = refOf(resources.deployments, 'below')
  await until('what it owned is gone', async () => (await outcome(api.get(below))) === 'not-found')
  return 'gone'
}

export const poolScenarios: readonly Scenario[] = [
  { name: 'applies the defaults of a BrowserPool and prunes unknown fields', run: defaultsAndPruning },
  { name: 'increments the generation of a BrowserPool if its spec changes', run: generationCounting },
  { name: 'garbage-collects the dependents of a deleted BrowserPool', run: garbageCollection },
]
