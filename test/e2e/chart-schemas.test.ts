import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { ciNames, ciPath, helms, renderText } from '#test/helpers/chart.ts'
import { pathToDefinition, type Schema, strictSchema } from '#tools/kubeconform/strict-schema.ts'

// The chart's objects against the published schemas of several Kubernetes versions, where unknown fields are refused.

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const program = join(root, '.tools/kubeconform/kubeconform')
const sources = join(root, 'test/fixtures/kubernetes-schemas')
/** Of other operators, whose schemas are not here. */
const unknown = [
  ...['PodMonitor', 'PrometheusRule', 'ServiceMonitor'].map((kind) => `monitoring.coreos.com/v1/${kind}`),
  'security-profiles-operator.x-k8s.io/v1beta1/SeccompProfile',
]

type Schemas = {
  readonly kinds: Readonly<Record<string, string>>
  readonly definitions: Readonly<Record<string, Schema>>
}
type CustomResource = {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

const readSchemas = async (name: string) => JSON.parse(await readFile(join(sources, name), 'utf8')) as Schemas

/** The schema of the chart's own definition. */
const readBrowserPool = async (): Promise<Schemas> => {
  const text = await readFile(join(root, 'crds/browserpools.shutterfleet.dev.yaml'), 'utf8')
  const { group, names, versions } = (parse(text) as CustomResource).spec
  const schemas = versions.map(
    ({ name, schema }) =>
      [
        pathToDefinition({ group, version: name, kind: names.kind }),
        name,
        strictSchema(schema.openAPIV3Schema),
      ] as const,
  )
  return {
    kinds: Object.fromEntries(schemas.map(([path, name]) => [path, name])),
    definitions: Object.fromEntries(schemas.map(([, name, schema]) => [name, schema])),
  }
}

const writeSchemas = async (folder: string, { kinds, definitions }: Schemas) => {
  for (const [path, name] of Object.entries(kinds))
    await writeFile(join(folder, `${path}.json`), JSON.stringify({ $ref: `#/definitions/${name}`, definitions }))
}

type Report = {
  readonly resources?: readonly { readonly filename: string; readonly kind: string; readonly msg: string }[]
  readonly summary: { readonly valid: number; readonly skipped: number }
}

/** What kubeconform finds in the files of a folder. */
const validate = async (schemas: string, folder: string): Promise<Report> => {
  const pattern = join(schemas, '{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json')
  const args = ['-strict', '-summary', '-output=json', '-n=2', `-skip=${unknown.join(',')}`]
  const running = run(program, [...args, `-schema-location=${pattern}`, folder], { maxBuffer: 16_000_000 })
  const { stdout } = await running.catch((error: { stdout: string }) => error)
  return JSON.parse(stdout) as Report
}

const versions = (await readdir(sources))
  .filter((name) => name.startsWith('v'))
  .map((name) => name.replace('.json', ''))

const prepare = async (t: { testdir: () => string }, version: string) => {
  const folder = t.testdir()
  const [schemas, rendered] = [join(folder, 'schemas'), join(folder, 'rendered')]
  for (const each of [schemas, rendered]) await mkdir(each)
  for (const each of [
    await readSchemas(`${version}.json`),
    await readSchemas('gateway-api.json'),
    await readSchemas('cert-manager.json'),
    await readBrowserPool(),
  ])
    await writeSchemas(schemas, each)
  return { schemas, rendered }
}

t.ok(versions.length >= 3, versions.join(', '))
for (const version of versions) {
  t.test(`chart schemas: every object of every values file is one of Kubernetes ${version}`, async (t) => {
    const { schemas, rendered } = await prepare(t, version)
    const isNewest = version === versions.toSorted().at(-1)
    // Tests compare the objects of Helm 3 and 4, for the newest version.
    for (const which of isNewest ? helms : (['helm4'] as const)) {
      for (const name of await ciNames())
        await writeFile(
          join(rendered, `${name}-${which}.yaml`),
          await renderText(ciPath(name), which, [`--kube-version=${version}`]),
        )
    }
    const { resources = [], summary } = await validate(schemas, rendered)
    t.strictSame(resources, [])
    t.ok(summary.valid > 1000, `${summary.valid} objects`)
    t.ok(summary.skipped < 50)
  })
}

t.test('chart schemas: unknown fields, wrong types and keys that occur twice are found', async (t) => {
  const { schemas, rendered } = await prepare(t, 'v1.33.0')
  const texts = ['several-hosts', 'gitops'].map((name) => renderText(ciPath(name)))
  const text = (await Promise.all(texts)).join('\n---\n')
  const faults: Readonly<Record<string, readonly [string, string, RegExp]>> = {
    field: ['revisionHistoryLimit: 3', 'revisionHistory: 3', /additional properties 'revisionHistory' not allowed/],
    type: ['replicas: 2', 'replicas: "2"', /got string, want integer/],
    nested: ['appProtocol: http', 'protocolOfApp: http', /additional properties 'protocolOfApp' not allowed/],
    route: ['backendRefs:', 'backends:', /additional properties 'backends' not allowed/],
    certificate: ['dnsNames:', 'names:', /additional properties 'names' not allowed/],
    pool: ['maxReplicas: 10', 'maximum: 10', /additional properties 'maximum' not allowed/],
    twice: [
      'serviceAccountName:',
      'serviceAccountName: a\n      serviceAccountName:',
      /already set in map|already defined/,
    ],
  }
  for (const [name, [from, to]] of Object.entries(faults)) {
    t.ok(text.includes(from), from)
    await writeFile(join(rendered, `${name}.yaml`), text.replace(from, to))
  }
  const { resources = [] } = await validate(schemas, rendered)
  for (const [name, [, , message]] of Object.entries(faults)) {
    const found = resources.filter(({ filename }) => filename.endsWith(`/${name}.yaml`)).map(({ msg }) => msg)
    t.match(found.join('\n'), message, name)
  }
})
