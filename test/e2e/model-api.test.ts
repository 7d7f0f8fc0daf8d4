import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createKubeApi } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { type TestCluster, startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { browserPoolKind } from '#test/helpers/model-api/browser-pool.ts'
import { refOf, resources, type Environment } from '#test/helpers/model-api/conformance.ts'
import type { Kind } from '#test/helpers/model-api/kind.ts'
import { at, type Stored } from '#test/helpers/model-api/object.ts'
import { deploymentScenarios } from '#test/helpers/model-api/conformance-deployments.ts'
import { jobScenarios } from '#test/helpers/model-api/conformance-jobs.ts'
import { objectScenarios } from '#test/helpers/model-api/conformance-objects.ts'
import { poolScenarios } from '#test/helpers/model-api/conformance-pools.ts'
import { createModelEnvironment } from '#test/helpers/model-api/model-environment.ts'

const crd = resolve(import.meta.dirname, '../../crds/browserpools.shutterfleet.dev.yaml')
const withinMs = 60_000

const realEnvironment = async (cluster: TestCluster): Promise<Environment> => {
  await cluster.applyCrd(await readFile(crd, 'utf8'))
  const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'client' })
  t.teardown(() => connection[Symbol.asyncDispose]())
  const api = createKubeApi(connection)
  return {
    api,
    until: (what, condition) => eventually(condition, { withinMs, what }),
    // Pods on fake nodes have no kubelet that would set the condition.
    unready: async (name) => {
      const ref = refOf(resources.pods, name)
      const { status } = await api.get<Stored>(ref)
      const others = (at(status, 'conditions') as { type: string }[]).filter(({ type }) => type !== 'Ready')
      const body = { status: { conditions: [...others, { type: 'Ready', status: 'False' }] } }
      await api.patch({ ...ref, subresource: 'status' }, { kind: 'merge', body })
    },
    wait: (ms) => delay(ms),
    undo: async (change) => {
      const snapshot = await cluster.snapshot()
      await change()
      await cluster.restore(snapshot)
    },
  }
}

const withoutGenerations = (kind: Kind): Kind => ({ ...kind, isNewGeneration: () => false })

const cluster = await startCluster(t)
const real = await realEnvironment(cluster)

const scenarios = [...objectScenarios, ...deploymentScenarios, ...jobScenarios, ...poolScenarios]
const realResults = new Map<string, unknown>()

for (const { name, run } of scenarios)
  t.test(`model api: the model ${name} as Kubernetes does`, async (t) => {
    const result: unknown = JSON.parse(JSON.stringify(await run(real)))
    realResults.set(name, result)
    t.strictSame(await run(createModelEnvironment()), result)
  })

/** Deviations of the model from Kubernetes, each with the scenario that detects it. */
const deviations: readonly [name: string, deviate: (kind: Kind) => Kind, resource: string][] = [
  [
    'tracks the field managers of spec.replicas and counts generations of a Deployment',
    withoutGenerations,
    'apps/v1/deployments',
  ],
  [
    'takes back with an apply what another field manager edited',
    (kind) => ({ ...kind, check: () => {} }),
    'apps/v1/deployments',
  ],
  [
    'increments the generation of a BrowserPool if its spec changes',
    (kind) => ({ ...kind, hasStatus: false }),
    browserPoolKind.resource,
  ],
  ['orphans the pods of a Job by default', (kind) => ({ ...kind, orphansDependents: false }), 'batch/v1/jobs'],
]
for (const [name, deviate, resource] of deviations)
  t.test(`planted fault: a model that deviates differs from Kubernetes: ${name}`, async (t) => {
    const environment = createModelEnvironment(({ server }) => server.setKind(resource, deviate(server.kind(resource))))
    const result = await scenarios
      .find((scenario) => scenario.name === name)
      ?.run(environment)
      .catch(String)
    t.ok(realResults.has(name), 'the scenario exists')
    t.notSame(result, realResults.get(name))
  })
