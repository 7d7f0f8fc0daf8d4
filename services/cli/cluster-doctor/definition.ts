import { browserPools, browserPoolSpec } from '#shared/kube/browser-pool.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import type { Cluster, Found } from './cluster.ts'
import type { Condition } from './objects.ts'
import { conditionOf } from './objects.ts'

const definitions = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
}
const [group = '', version = ''] = browserPools.apiVersion.split('/')
const name = `${browserPools.plural}.${group}`
const apply = 'kubectl apply --server-side --force-conflicts -f crds/browserpools.shutterfleet.dev.yaml'

type Schema = { readonly properties?: Readonly<Record<string, Schema>> }
type Definition = KubeObject & {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly schema?: { readonly openAPIV3Schema?: Schema }
    }[]
  }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** Fields that `own` has and `theirs` has not, as paths. */
const missingFields = (own: Schema, theirs: Schema | undefined, path: string): readonly string[] =>
  Object.entries(own.properties ?? {}).flatMap(([field, schema]) => {
    const other = theirs?.properties?.[field]
    return other ? missingFields(schema, other, `${path}.${field}`) : [`${path}.${field}`]
  })

const judge = ({ spec: { versions }, ...definition }: Definition): Found => {
  const summary = `${name} serves ${version}, with all fields of this release`
  const served = versions.filter((each) => each.served)
  const own = served.find((each) => each.name === version)
  if (!own) {
    const others = served.map((each) => each.name).join(', ') || 'nothing'
    const detail = `${name} serves ${others}, not ${version}, which this release uses`
    return { summary, troubles: [{ detail, advice: `\`${apply}\`, or an upgrade of the chart with crds.upgrade` }] }
  }
  if (conditionOf(definition, 'Established')?.status !== 'True') {
    const detail = `${name} is not established: ${conditionOf(definition, 'NamesAccepted')?.message ?? 'no reason given'}`
    return { summary, troubles: [{ detail, advice: `\`kubectl describe crd ${name}\` has the conflict of names` }] }
  }
  const missing = missingFields(browserPoolSpec as Schema, own.schema?.openAPIV3Schema?.properties?.['spec'], 'spec')
  if (missing.length === 0) return { summary }
  const detail = `${name} is older than this release; it drops ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}`
  return { summary, troubles: [{ detail, advice: `\`${apply}\`, or an upgrade of the chart with crds.upgrade` }] }
}

/** Whether the BrowserPool of this release is what the cluster serves. Who may not read definitions, and reads pools of the namespace, learns that it is served. */
export const lookAtDefinition = async ({ api }: Cluster, namespace: string, signal: AbortSignal): Promise<Found> => {
  try {
    return judge(await api.get<Definition>({ resource: definitions, name }, signal))
  } catch (thrown) {
    const outcome = outcomeOf(thrown)
    if (outcome === 'not-found') {
      return { summary: '', troubles: [{ detail: `${name} is not there`, advice: `\`${apply}\`` }] }
    }
    if (outcome !== 'forbidden') throw thrown
    await api.list({ resource: browserPools, namespace }, { limit: 1 }, signal).catch((other: unknown) => {
      throw outcomeOf(other) === 'not-found' ? other : thrown
    })
    return {
      summary: `${version} is served; whether it has all fields only those see who may read ${definitions.plural}`,
    }
  }
}
