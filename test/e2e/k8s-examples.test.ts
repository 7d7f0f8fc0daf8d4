import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import { parseAllDocuments, stringify } from 'yaml'
import {
  chartFolder,
  type ChartObject,
  ciPath,
  helm,
  helms,
  kubeVersion,
  objectsOf,
  renderText,
} from '#test/helpers/chart.ts'
import { startCluster } from '#test/helpers/cluster.ts'

// The unchanged examples of k8s/.

const root = resolve(import.meta.dirname, '../..')
const cluster = await startCluster(t, { kwok: false })
await cluster.applyCrd(await readFile(join(root, 'crds/browserpools.shutterfleet.dev.yaml'), 'utf8'))
for (const name of ['shots', 'shots-workers', 'shutterfleet-workers']) await cluster.addNamespace(name)
// A pod is rejected if its service account is missing.
await cluster.kubectl(['create', 'serviceaccount', 'shots-shutterfleet', '--namespace=shots'])

/** The result of a server-side dry run: 'accepted', or the error. */
const dryRun = (objects: readonly object[]): Promise<string> => {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
  const args = ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '-f', '-']
  return cluster.kubectl(args, list).then(
    () => 'accepted',
    ({ stderr }: { stderr: string }) => stderr,
  )
}
/** Whether the cluster serves the object's kind: the Prometheus operator is not installed. */
const isServed = ({ apiVersion }: ChartObject) => !apiVersion.startsWith('monitoring.coreos.com/')
const documentsIn = async (path: string): Promise<ChartObject[]> =>
  parseAllDocuments(await readFile(join(root, path), 'utf8')).map((each) => each.toJS() as ChartObject)

t.test('pools: an API server accepts each example, and rejects an unknown field', async (t) => {
  const names = await readdir(join(root, 'k8s/pools'))
  t.strictSame(names.toSorted(), ['proxied.yaml', 'standard.yaml', 'stealth.yaml'])
  for (const name of names) t.equal(await dryRun(await documentsIn(`k8s/pools/${name}`)), 'accepted', name)
  const [pool] = await documentsIn('k8s/pools/standard.yaml')
  t.match(await dryRun([{ ...pool, spec: { ...(pool?.['spec'] as object), size: 1 } }]), /unknown field "size"/)
})

t.test('values: Helm 3 and 4 lint each size, and an API server accepts the rendered objects', async (t) => {
  const names = await readdir(join(root, 'k8s/values'))
  t.strictSame(names.toSorted(), ['large.yaml', 'medium.yaml', 'small.yaml'])
  for (const name of names) {
    const path = join(root, 'k8s/values', name)
    for (const which of helms) {
      const args = ['lint', '--strict', chartFolder, `--values=${path}`, `--kube-version=${kubeVersion}`]
      t.match(await helm(which, args), /0 chart\(s\) failed/, `${which} ${name}`)
    }
    t.equal(await dryRun(objectsOf(await renderText(path)).filter(isServed)), 'accepted', name)
  }
})

type Source = { readonly path: string; readonly helm: { readonly valuesObject: object } }
type Chart = { readonly spec: { readonly chart: string; readonly sourceRef: { readonly name: string } } }

/** The spec of a document; empty if the document is missing. */
const specOf = (object: ChartObject | undefined) => (object ?? { spec: {} })['spec']

t.test('GitOps: both examples name the path of the chart, and their values are valid', async (t) => {
  const [application] = await documentsIn('k8s/argocd/application.yaml')
  const { source } = specOf(application) as { readonly source: Source }
  const [repository, release] = await documentsIn('k8s/flux/helm-release.yaml')
  const { chart, values } = specOf(release) as { readonly chart: Chart; readonly values: object }
  for (const path of [source.path, chart.spec.chart]) t.equal(join(root, path), chartFolder)
  t.equal(chart.spec.sourceRef.name, repository?.metadata.name)
  const file = join(t.testdir(), 'values.yaml')
  for (const chartValues of [source.helm.valuesObject, values]) {
    await writeFile(file, stringify(chartValues))
    t.equal(await dryRun(objectsOf(await renderText(file)).filter(isServed)), 'accepted')
    await writeFile(file, stringify({ ...chartValues, gateway: { replica: 2 } }))
    await t.rejects(renderText(file), /additional properties 'replica' not allowed/)
  }
})

t.test('platforms: the examples are objects, and values that the chart renders with', async (t) => {
  const page = await readFile(join(root, 'docs/platforms.md'), 'utf8')
  const [values, ...objects] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
    parseAllDocuments(text, { strict: true }).map((each) => each.toJS() as ChartObject),
  )
  t.match(
    objects.map(({ kind }) => kind),
    ['PolicyException', 'K8sPSPProcMount', 'K8sPSPSeccomp', 'SecurityContextConstraints', 'Role', 'RoleBinding'],
  )
  for (const { apiVersion, metadata } of objects) t.match([apiVersion, metadata.name], [/^[\w.]+\/v\w+$/, /./])
  t.equal(await dryRun(objects.filter(({ apiVersion }) => apiVersion.startsWith('rbac.'))), 'accepted')
  const file = join(t.testdir({ 'values.yaml': stringify(values) }), 'values.yaml')
  const rendered = objectsOf(await renderText(ciPath('minimal'), 'helm4', [`--values=${file}`]))
  const policy = rendered.find(({ kind }) => kind === 'ValidatingAdmissionPolicy')
  t.match(JSON.stringify(policy), /gvisor/)
})
