import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { pathToDefinition, type Schema, strictSchema } from './strict-schema.ts'

/**
 * Writes the schemas that `test/e2e/chart-schemas.test.ts` validates the chart's objects with: those of the kinds that the chart
 * renders, from the published OpenAPI documents of Kubernetes, which are files of its Go module, and those of others from their
 * modules. Run it with Go after a change of the lists below, or if the chart renders another kind.
 */
const versions = ['v1.33.0', 'v1.35.0', 'v1.36.4']
const customResources = {
  'gateway-api': ['sigs.k8s.io/gateway-api@v1.6.1', 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  'cert-manager': ['github.com/cert-manager/cert-manager@v1.21.0', 'deploy/crds/cert-manager.io_certificates.yaml'],
} as const

/** Kinds by group and version; the core group has no name. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  '/v1': ['ConfigMap', 'Namespace', 'PersistentVolumeClaim', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'admissionregistration.k8s.io/v1': ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  'apps/v1': ['DaemonSet', 'Deployment', 'StatefulSet'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'batch/v1': ['CronJob', 'Job'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
}

const folder = resolve(import.meta.dirname, '../../test/fixtures/kubernetes-schemas')

type Kind = { readonly group: string; readonly version: string; readonly kind: string }
type Document = { readonly components?: { readonly schemas: Readonly<Record<string, Schema>> } }

const moduleFolder = (module: string): string => {
  const printed = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8', env: process.env })
  return (JSON.parse(printed) as { readonly Dir: string }).Dir
}

const kindsOf = (schema: Schema) => (schema['x-kubernetes-group-version-kind'] ?? []) as readonly Kind[]

/** All definitions of a version, by name. */
const readDefinitions = (path: string): Readonly<Record<string, Schema>> =>
  Object.assign(
    {},
    ...readdirSync(path)
      .filter((name) => name.endsWith('_openapi.json'))
      .map((name) => (JSON.parse(readFileSync(join(path, name), 'utf8')) as Document).components?.schemas ?? {}),
  ) as Readonly<Record<string, Schema>>

/** Names of the definitions that a value refers to. */
const referencedIn = (value: unknown): readonly string[] =>
  [...JSON.stringify(value).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, name = '']) => name)

const writeVersion = (version: string) => {
  const path = 'api/openapi-spec/v3'
  const all = readDefinitions(join(moduleFolder(`k8s.io/kubernetes@${version}`), path))
  const isRendered = ({ group, version: of, kind }: Kind) => kinds[`${group}/${of}`]?.includes(kind)
  const roots = Object.entries(all).flatMap(([name, schema]) =>
    kindsOf(schema).flatMap((kind) => (isRendered(kind) ? [[pathToDefinition(kind), name] as const] : [])),
  )
  const definitions: Record<string, Schema> = {}
  const add = (name: string) => {
    const schema = all[name]
    if (!schema || definitions[name]) return
    definitions[name] = strictSchema(schema)
    for (const each of referencedIn(definitions[name])) add(each)
  }
  for (const [, name] of roots) add(name)
  write(version, `k8s.io/kubernetes ${version}, ${path} (Apache-2.0)`, Object.fromEntries(roots), definitions)
}

type Definition = {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

const writeDefinition = (file: string, module: string, path: string) => {
  const text = readFileSync(join(moduleFolder(module), path), 'utf8')
  const { group, names, versions: served } = (parse(text) as Definition).spec
  const schema = served.find(({ name }) => name === 'v1')?.schema.openAPIV3Schema
  if (!schema) throw new Error(`${path} has no version v1`)
  const roots = { [pathToDefinition({ group, version: 'v1', kind: names.kind })]: names.kind }
  const origin = `${module.replace('@', ' ')}, ${path} (Apache-2.0)`
  write(file, origin, roots, { [names.kind]: strictSchema(schema) })
}

const write = (name: string, $comment: string, roots: object, definitions: object) => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ $comment, kinds: roots, definitions })}\n`)
}

for (const version of versions) writeVersion(version)
for (const [file, [module, path]] of Object.entries(customResources)) writeDefinition(file, module, path)
