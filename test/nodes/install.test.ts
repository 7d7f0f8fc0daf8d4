import sharp from 'sharp'
import t from 'tap'
import { helms } from '#test/helpers/chart.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { addLocalVolumes } from '#test/helpers/nodes/local-volumes.ts'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import { startOutsideServices } from '#test/helpers/nodes/outside-services.ts'
import { evaluationOf, prepareRelease, type Release, releaseOf } from '#test/helpers/nodes/release.ts'
import { colourAnnotation, untilWorkers, untilWorkersAre } from '#test/helpers/nodes/workers.ts'

const cluster = await startNodeCluster(t, { count: 2 })
const { kubectl } = cluster
const outside = await startOutsideServices(cluster.network)
t.teardown(() => outside[Symbol.asyncDispose]())
outside.releasePages()
await prepareRelease(cluster, 'shots', outside.secrets)

const blue = [0, 0, 255]
const colourOf = async (image: Buffer) => {
  const area = { left: 1200, top: 700, width: 1, height: 1 }
  return [...(await sharp(image).removeAlpha().extract(area).raw().toBuffer())]
}
/** Captures a page; returns the colour of the image, or the error of the response. */
const capture = async (release: Release, parameters: object) => {
  const response = await release.request('/v1/screenshots/capture', parameters)
  const body = Buffer.from(await response.arrayBuffer())
  return response.status === 200 ? colourOf(body) : (JSON.parse(body.toString()) as { error?: object }).error
}
const names = async (...args: readonly string[]) =>
  (await kubectl(['get', ...args, '-o', 'name'])).split('\n').filter((line) => line !== '')

for (const which of helms) {
  const release = releaseOf(cluster, outside, which)

  t.test(`chart: a release installed by ${which} captures pages on real nodes`, async (t) => {
    const startedAt = performance.now()
    await release.deploy('install')
    t.strictSame(await capture(release, { url: outside.page(`${which}-first`) }), blue)
    t.comment(`${which} install to the first captured page: ${Math.round(performance.now() - startedAt)} ms`)
    const [worker] = await untilWorkers(cluster, release, (all) => all.length === 1)
    t.equal(worker?.restarts, 0, 'workers are not started before their keys are there')
    t.match(await release.helm('test', '--timeout=3m'), /Phase:\s+Succeeded/)
  })

  t.test(`chart: a capture through an authenticated proxy runs as a Job of ${which}’s release`, async (t) => {
    const { url, proxy, proxyWithoutPassword } = outside.proxied
    const startedAt = performance.now()
    t.strictSame(await capture(release, { url: `${url}?${which}`, proxy }), blue)
    t.comment(`proxied capture without a spare: ${Math.round(performance.now() - startedAt)} ms`)
    t.match(await names('jobs', `-n=${release.workersNamespace}`), [/^job\.batch\//])
    t.match(await capture(release, { url: `${url}?${which}-open`, proxy: proxyWithoutPassword }), {
      code: 'CONNECTION_FAILED',
    })
  })

  t.test(`chart: ${which} upgrades to another worker template and rolls back`, async (t) => {
    const template = { annotations: { [colourAnnotation]: 'red' } }
    await release.deploy('upgrade', { pools: { standard: { spec: { template } } } })
    await untilWorkersAre(cluster, release, 'red')
    t.strictSame(await capture(release, { url: outside.page(`${which}-upgraded`) }), blue)

    await release.helm('rollback', '1', '--wait', '--timeout=4m')
    await release.poolsReady()
    await untilWorkersAre(cluster, release, undefined)
    t.strictSame(await capture(release, { url: outside.page(`${which}-back`) }), blue)
  })

  t.test(`chart: ${which} uninstalls everything except the BrowserPool definition and kept objects`, async (t) => {
    await release.helm('uninstall', '--wait', '--timeout=4m')
    await eventually(
      async () => (await names('namespace', '--ignore-not-found', release.workersNamespace)).length === 0,
      {
        withinMs: 180_000,
        what: 'the namespace of the workers is gone',
      },
    )
    const kinds = 'all,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,pdb,leases,ingresses,pvc'
    const left = () => names(kinds, `-n=${release.namespace}`)
    const isPod = (name: string) => name.startsWith('pod/')
    await eventually(async () => !(await left()).some(isPod), { withinMs: 180_000, what: 'all pods are gone' })
    t.strictSame(await left(), [
      'secret/bucket',
      'secret/nats',
      'secret/postgresql',
      'secret/shots-shutterfleet-first-key',
      'secret/shots-shutterfleet-keys',
      'configmap/kube-root-ca.crt',
      'serviceaccount/default',
    ])
    const ofCluster = 'clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings'
    t.strictSame(await names(ofCluster, '-l=app.kubernetes.io/instance=shots'), [])
    t.strictSame(await names('crd'), ['customresourcedefinition.apiextensions.k8s.io/browserpools.shutterfleet.dev'])
  })
}

t.test('chart: the evaluation profile captures pages without services outside of the cluster', async (t) => {
  const release = evaluationOf(cluster)
  await addLocalVolumes(cluster)
  await prepareRelease(cluster, release.namespace)
  const startedAt = performance.now()
  await release.deploy('install')
  t.strictSame(await capture(release, { url: outside.page('evaluation') }), blue)
  t.comment(
    `install of the evaluation profile to the first captured page: ${Math.round(performance.now() - startedAt)} ms`,
  )
  t.strictSame(await capture(release, { url: outside.page('evaluation') }), blue, 'stored images are read again')
  await release.helm('uninstall', '--wait', '--timeout=4m')
  const left = () => names('statefulsets,pvc,secrets', `-n=${release.namespace}`)
  await eventually(async () => (await left()).length === 0, {
    withinMs: 180_000,
    what: 'its volumes and keys are gone',
  })
})
