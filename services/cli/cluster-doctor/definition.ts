import { browserPools, browserPoolSpec } from '#shared/kube/browser-pool.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { type Cluster, failing, type PartResult } from './cluster.ts'
import { type Condition, conditionOf, kinds } from './objects.ts'

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

/** Paths of the fields of `own` that `theirs` lacks. */
const missingFields = (own: Schema, installed: Schema | undefined, path: string): readonly string[] =>
  Object.entries(own.properties ?? {}).flatMap(([field, schema]) => {
    const other = installed?.properties?.[field]
    return other ? missingFields(schema, other, `${path}.${field}`) : [`${path}.${field}`]
  })

const compareDefinition = ({ spec: { versions }, ...definition }: Definition): PartResult => {
  const served = versions.filter((each) => each.served)
  const own = served.find((each) => each.name === version)
  if (!own) {
    const others = served.map((each) => each.name).join(', ') || 'nothing'
    const detail = `${name} serves ${others}, not ${version}, which this release uses`
    return failing(detail, `\`${apply}\`, or an upgrade of the chart with crds.upgrade`)
  }
  if (conditionOf(definition, 'Established')?.status !== 'True') {
    const detail = `${name} is not established: ${conditionOf(definition, 'NamesAccepted')?.message ?? 'no reason given'}`
    return failing(detail, `\`kubectl describe crd ${name}\` has the conflict of names`)
  }
  const missing = missingFields(browserPoolSpec as Schema, own.schema?.openAPIV3Schema?.properties?.['spec'], 'spec')
  if (missing.length === 0) return { summary: `${name} serves ${version}, with all fields of this release` }
  const detail = `${name} is older than this release; it drops ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}`
  return failing(detail, `\`${apply}\`, or an upgrade of the chart with crds.upgrade`)
}

/** Checks that the cluster serves this release's BrowserPool. If the account may not read definitions, listing the pools shows at least that it is served. */
export const checkDefinition = async (cluster: Cluster, namespace: string): Promise<PartResult> => {
  try {
    return compareDefinition(await cluster.get<Definition>({ resource: kinds.definitions, name }))
  } catch (thrown) {
    const outcome = outcomeOf(thrown)
    if (outcome === 'not-found') {
      return failing(`${name} is not there`, `\`${apply}\``)
    }
    if (outcome !== 'forbidden') throw thrown
    await cluster.list(browserPools, { namespace }).catch((other: unknown) => {
      throw outcomeOf(other) === 'not-found' ? other : thrown
    })
    return {
      summary: `${version} is served; not checked whether it has all fields, which needs the right to read ${kinds.definitions.plural}`,
    }
  }
}
