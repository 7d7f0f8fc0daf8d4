import { apply, setReplicas } from '#controller/kube/apply.ts'
import { browserPools } from '#shared/kube/browser-pool.ts'
import type { Patch } from '#shared/kube/client.ts'
import { allOf, make, one, outcome, resources, type Scenario, type Stage } from './conformance.ts'
import { at, type Stored } from './object.ts'

const poolOf = (name: string, spec: object = {}) => ({
  apiVersion: browserPools.apiVersion,
  kind: browserPools.kind,
  metadata: { name },
  spec: { pool: 'standard', ...spec },
})
const merge = (body: object): Patch => ({ kind: 'merge', body, fieldManager: 'somebody' })
const within = allOf(browserPools)

const filling = async ({ api }: Stage) => {
  const spec = { autoscaling: { maxReplicas: 7 }, nonsense: 1 }
  const made = await make(api, browserPools, poolOf('filled', spec))
  const { apiVersion, kind, metadata } = (await api.list<Stored>(within, { limit: 1 })).items[0] ?? made
  return {
    spec: made['spec'],
    listed: [apiVersion, kind, metadata.name],
    refused: [
      await outcome(api.create(within, poolOf('bad', { replicas: -1 }))),
      await outcome(api.create(within, poolOf('bad', { pool: 'nonsense' }))),
    ],
  }
}

const versions = async ({ api }: Stage) => {
  const ref = one(browserPools, 'versions')
  const generations: unknown[] = []
  const note = (object: Stored) => generations.push([object.metadata.generation, at(object, 'spec', 'replicas')])
  note(await make(api, browserPools, poolOf('versions', { autoscaling: { enabled: false } })))
  note(await api.patch<Stored>(ref, merge({ metadata: { labels: { a: 'b' } } })))
  note(await api.patch<Stored>(ref, merge({ spec: { paused: true } })))
  note(await api.patch<Stored>(ref, merge({ status: { queue: 9 } })))
  const status = { queue: 3, reason: 'steady' }
  const reported = await apply<Stored>(api, { ...ref, subresource: 'status' }, { status })
  note(reported)
  const again = await apply<Stored>(api, { ...ref, subresource: 'status' }, { status })
  const less = await apply<Stored>(api, { ...ref, subresource: 'status' }, { status: { reason: 'steady' } })
  await setReplicas(api, ref, { replicas: 5, manager: 'kubectl' })
  note(await api.get<Stored>(ref))
  return {
    generations,
    statuses: [reported, less].map((object) => object['status']),
    isUntouched: again.metadata.resourceVersion === reported.metadata.resourceVersion,
  }
}

const collecting = async ({ api, until }: Stage) => {
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
  await api.remove(one(browserPools, 'owner'))
  const below = one(resources.deployments, 'below')
  await until('what it owned is gone', async () => (await outcome(api.get(below))) === 'not-found')
  return 'gone'
}

export const poolScenarios: readonly Scenario[] = [
  { name: 'fills a BrowserPool in by its schema', play: filling },
  { name: 'counts generations of a BrowserPool by its spec', play: versions },
  { name: 'collects what a deleted BrowserPool owned', play: collecting },
]
