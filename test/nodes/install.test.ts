import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { makeAuthority } from '#test/helpers/authority.ts'
import { helms } from '#test/helpers/chart.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { requestIngress, startIngressController } from '#test/helpers/ingress-controller.ts'
import { forwardPort } from '#test/helpers/nodes/forward-port.ts'
import { addLocalVolumes } from '#test/helpers/nodes/local-volumes.ts'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import { addRegistry } from '#test/helpers/nodes/node-files.ts'
import { startOutsideServices } from '#test/helpers/nodes/outside-services.ts'
import { evaluationOf, prepareRelease, type Release, releaseOf, type Send } from '#test/helpers/nodes/release.ts'
import { captureSteadily } from '#test/helpers/nodes/steady-captures.ts'
import { untilWorkers } from '#test/helpers/nodes/workers.ts'
import { nextMigration } from '#test/helpers/release/clone.ts'
import { type Published, publishReleases } from '#test/helpers/release/publish.ts'

// A release as `make release` publishes it, of the last commit or of the one in UPGRADE_FROM: pulled by the nodes and installed by digest,
// captured through its Ingress with TLS, upgraded under load to the next one, which migrates the database, rolled back under load,
// uninstalled.

const host = 'shots.example.com'
const tlsSecret = 'shots-tls'
const publishedAt = performance.now()
const published = await publishReleases(t.testdir())
t.teardown(() => published[Symbol.asyncDispose]())
t.comment(`two releases published: ${Math.round(performance.now() - publishedAt)} ms`)
const { first, next, registry } = published

const cluster = await startNodeCluster(t, { count: 2, has: 'foreign' })
const { kubectl, network } = cluster
const outside = await startOutsideServices(network)
const registryPort = Number(registry.host.split(':')[1])
const forwarded = await forwardPort(network.address, registryPort, registryPort)
const authority = await makeAuthority([host])
t.teardown(() => Promise.all([outside, forwarded, authority].map((each) => each[Symbol.asyncDispose]())))
for (const { folder } of cluster.nodes) await addRegistry(folder, registry.host, `${network.address}:${registryPort}`)
outside.releasePages()
await prepareRelease(cluster, 'shots', outside.secrets)

const [ca, certificate, certificateKey] = await Promise.all(
  [authority.caPath, authority.certPath, authority.keyPath].map((path) => readFile(path)),
)
await cluster.apply({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name: tlsSecret, namespace: 'shots' },
  data: { 'tls.crt': certificate?.toString('base64'), 'tls.key': certificateKey?.toString('base64') },
})
await cluster.apply({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'traefik' },
  spec: { controller: 'traefik.io/ingress-controller' },
})
const port = await startIngressController(t, cluster)
const send: Send = (path, init) => requestIngress({ host, port, ca: ca ?? Buffer.of() }, path, init)
const behindIngress = {
  // Both nodes are on the cores of this machine: a larger pool would starve the services.
  pools: { standard: { spec: { autoscaling: { minReplicas: 1, maxReplicas: 2 } } } },
  ingress: { enabled: true, className: 'traefik', host, tlsSecret },
  gateway: { trustedProxies: [network.address] },
}

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

/** Waits until the ingress controller has seen the release's Ingress. */
const untilRouted = (release: Release) =>
  eventually(async () => (await release.request('/v1/screenshots')).ok, { what: 'the Ingress routes to the gateway' })
const untilWorkersRun = (release: Release, image: string) =>
  untilWorkers(
    cluster,
    release,
    (all) => all.length > 0 && all.every((each) => each.isEnding || (each.isReady && each.image === image)),
  )
/** The distinct images of the services' pods. */
const serviceImages = async (release: Release) => {
  const path = 'jsonpath={.items[*].spec.template.spec.containers[*].image}'
  const images = await kubectl(['get', 'deployments', `-n=${release.namespace}`, '-o', path])
  return [...new Set(images.split(' '))]
}

t.test('release: is verified as documented, and by no other key', async (t) => {
  t.equal(await first.verify(), first.chartDigest)
  await t.rejects(first.verify(published.otherKey), { message: /signature/ })
})

for (const which of helms) {
  const release = releaseOf(cluster, outside, { which, chart: first.chart, send })

  t.test(`release: installed by ${which} by digest, it captures pages through its Ingress with TLS`, async (t) => {
    const startedAt = performance.now()
    await release.deploy('install', behindIngress)
    await untilRouted(release)
    t.strictSame(await capture(release, { url: outside.page(`${which}-first`) }), blue)
    t.comment(`${which} install to the first captured page: ${Math.round(performance.now() - startedAt)} ms`)
    const [worker] = await untilWorkers(cluster, release, (all) => all.length === 1)
    t.equal(worker?.restarts, 0, 'workers are not started before their keys are there')
    t.equal(worker?.image, await first.image('worker'))
    t.strictSame(await serviceImages(release), [await first.image('server')])
    t.match(await release.helm('test', '--timeout=3m'), /Phase:\s+Succeeded/)
  })

  t.test(`release: a capture through an authenticated proxy runs as a Job of ${which}’s release`, async (t) => {
    const { url, proxy, proxyWithoutPassword } = outside.proxied
    const startedAt = performance.now()
    t.strictSame(await capture(release, { url: `${url}?${which}`, proxy }), blue)
    t.comment(`proxied capture without a spare: ${Math.round(performance.now() - startedAt)} ms`)
    t.match(await names('jobs', `-n=${release.workersNamespace}`), [/^job\.batch\//])
    t.match(await capture(release, { url: `${url}?${which}-open`, proxy: proxyWithoutPassword }), {
      code: 'CONNECTION_FAILED',
    })
  })

  /** Captures all the time while `change` brings the release to `to`. */
  const changeUnderLoad = async (t: Test, to: Published, change: () => Promise<unknown>) => {
    const captures = captureSteadily(release, outside)
    await captures.more(10)
    await change()
    await release.poolsReady()
    await untilWorkersRun(release, await to.image('worker'))
    await captures.more(10)
    const { count, failures } = await captures.finish()
    t.comment(`${count} captures`)
    t.strictSame(failures, [])
    t.strictSame(await serviceImages(release), [await to.image('server')])
    t.ok(await outside.hasMigrated(nextMigration), 'the schema is that of the next release')
  }

  t.test(`release: ${which} upgrades to the next one under load without a failed request`, async (t) => {
    t.notOk(await outside.hasMigrated(nextMigration))
    await changeUnderLoad(t, next, () => release.deploy('upgrade', behindIngress, next.chart))
  })

  t.test(`release: ${which} rolls back under load, without a failed request, on the schema of the next one`, (t) =>
    changeUnderLoad(t, first, () => release.helm('rollback', '1', '--wait', '--timeout=4m')),
  )

  t.test(`release: ${which} uninstalls everything except the BrowserPool definition and kept objects`, async (t) => {
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
      `secret/${tlsSecret}`,
      'configmap/kube-root-ca.crt',
      'serviceaccount/default',
    ])
    const ofCluster = 'clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings'
    t.strictSame(await names(ofCluster, '-l=app.kubernetes.io/instance=shots'), [])
    t.strictSame(await names('crd'), ['customresourcedefinition.apiextensions.k8s.io/browserpools.shutterfleet.dev'])
    // For the other version of Helm, whose first release has no such schema yet.
    await outside.emptyDatabase()
    await kubectl(['delete', 'secret', 'shots-shutterfleet-first-key', `-n=${release.namespace}`])
  })
}

t.test('release: the evaluation profile captures pages without services outside of the cluster', async (t) => {
  const release = evaluationOf(cluster, { chart: first.chart })
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
