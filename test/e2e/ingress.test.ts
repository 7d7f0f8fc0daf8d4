import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { makeAuthority } from '#test/helpers/authority.ts'
import { type ChartObject, ciPath, objectsOf, podsOf, renderText } from '#test/helpers/chart.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { requestIngress, startIngressController } from '#test/helpers/ingress-controller.ts'
import { readEvents } from '#test/helpers/read-events.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'
import { startStandInFleet } from '#test/helpers/stand-in-fleet.ts'

// The chart's Ingress, served by a controller that reads it from a real API server, in front of a local gateway.

const heldMs = 90_000
const classes = ['nginx', 'traefik'] as const
/** Hosts by the class of their Ingress. `bare` is an nginx Ingress without the chart's annotations. */
const hosts = { nginx: 'nginx.example.com', traefik: 'traefik.example.com', bare: 'bare.example.com' } as const
const namespace = 'shots'
const gatewayName = 'shots-shutterfleet-gateway'

/** The address of the gateway; Kubernetes rejects endpoints on loopback. */
const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
if (address === undefined) throw new Error('this machine has no IPv4 address but loopback')

const render = async (name: keyof typeof hosts) => {
  const options = { className: name === 'bare' ? 'nginx' : name, host: hosts[name] }
  const values = Object.entries(options).map(([key, value]) => `--set=ingress.${key}=${value}`)
  return objectsOf(
    await renderText(ciPath('ingress'), 'helm4', [...values, `--set=gateway.trustedProxies={${address}}`]),
  )
}
const found = (objects: readonly ChartObject[], kind: string): ChartObject => {
  const object = objects.find(({ kind: its, metadata }) => its === kind && metadata.name === gatewayName)
  if (!object) throw new Error(`the chart has no ${kind} ${gatewayName}`)
  return object
}
const charts = { nginx: await render('nginx'), traefik: await render('traefik'), bare: await render('bare') }
const pod = podsOf([found(charts.nginx, 'Deployment')])[0]
const setting = (name: string) =>
  pod?.spec.containers[0].env?.find((each) => each.name === `SHUTTERFLEET_${name}`)?.value ?? ''

const gateway = await startGateway(t, {
  GATEWAY_HOST: '::',
  PUBLIC_URL: setting('PUBLIC_URL'),
  TRUSTED_PROXIES: setting('TRUSTED_PROXIES'),
  KEY_FAILURES_PER_MINUTE: '1',
})
const { database } = gateway
await replacePlans(database, defaultPlans)
const { id: accountId } = await createAccount(database, { name: 'a', email: 'a@localhost', plan: 'unlimited' })
const { key } = await createKey(database, { accountId, name: 'a', domains: [], pepper: testPepper })

const image = Buffer.from('an image')
const held = new Map<string, PromiseWithResolvers<void>>()
/** A page whose capture does not end until `release`. */
const heldPage = (name: string) => {
  const url = `https://example.com/${name}`
  const gate = Promise.withResolvers<void>()
  held.set(url, gate)
  const captureCount = () => fleet.received.filter(({ part }) => part.options.url === url).length
  return { url, captureCount, release: gate.resolve }
}
const fleet = startStandInFleet(gateway, ({ options: { url } }) => {
  const gate = held.get(url ?? '')
  return { image, ...(gate && { before: () => gate.promise }) }
})
t.teardown(() => fleet[Symbol.asyncDispose]())

const authority = await makeAuthority(Object.values(hosts))
t.teardown(() => authority[Symbol.asyncDispose]())
const [ca, certificate, certificateKey] = await Promise.all(
  [authority.caPath, authority.certPath, authority.keyPath].map((path) => readFile(path)),
)
if (!ca || !certificate || !certificateKey) throw new Error('no certificate')

const cluster = await startCluster(t, { controllerManager: false, kwok: false })
const secretName = 'shots-tls'
const labels = { 'kubernetes.io/service-name': gatewayName }
await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
await cluster.apply({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    ...[
      ['nginx', 'k8s.io/ingress-nginx'],
      ['traefik', 'traefik.io/ingress-controller'],
    ].map(([name, controller]) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name },
      spec: { controller },
    })),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name: secretName, namespace },
      data: { 'tls.crt': certificate.toString('base64'), 'tls.key': certificateKey.toString('base64') },
    },
    found(charts.nginx, 'Service'),
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: gatewayName, namespace, labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: 'http', port: Number(new URL(gateway.baseUrl).port), protocol: 'TCP' }],
    },
    ...Object.entries(charts).map(([name, objects]) => {
      const { annotations, ...metadata } = found(objects, 'Ingress').metadata
      return {
        ...found(objects, 'Ingress'),
        metadata: { ...metadata, name, ...(name !== 'bare' && { annotations }) },
      }
    }),
  ],
})
const port = await startIngressController(t, cluster)

type SentRequest = Parameters<typeof requestIngress>[2]
const request = (name: keyof typeof hosts, path: string, sent: SentRequest = {}) =>
  requestIngress({ host: hosts[name], port, ca }, `/v1${path}`, {
    ...sent,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...sent.headers },
  })
const post = (name: keyof typeof hosts, path: string, body: string | object = {}) =>
  request(name, path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
const capture = (name: keyof typeof hosts, url: string) => post(name, '/screenshots/capture', { url, timeout: 60 })
const dataOf = async (answer: Response) => ((await answer.json()) as { data: Record<string, string> }).data

for (const name of ['nginx', 'traefik', 'bare'] as const) {
  await eventually(async () => (await request(name, '/account')).status === 200, {
    what: `the Ingress ${name} is served`,
  })
}

for (const name of classes) {
  t.test(`ingress ${name}: serves a capture over TLS with the certificate of the chart's Secret`, async (t) => {
    const answer = await capture(name, `https://example.com/${name}`)
    t.equal(answer.status, 200)
    t.strictSame(Buffer.from(await answer.arrayBuffer()), image)
  })

  t.test(`ingress ${name}: passes the largest body and a request line of nearly 64 KiB`, async (t) => {
    const html = '\\u0061'.repeat(500_000)
    const body = `{"html":"${html}"}`.padEnd(7 * 1024 * 1024)
    t.equal((await post(name, '/screenshots/capture', body)).status, 200)
    t.equal((await request(name, `/screenshots/capture?html=${'a'.repeat(62 * 1024)}`)).status, 200)
  })

  t.test(`ingress ${name}: passes events while the capture is running`, async (t) => {
    const page = heldPage(`events-${name}`)
    const { id = '' } = await dataOf(await post(name, '/screenshots', { url: page.url }))
    const { events, ended } = readEvents(await request(name, `/screenshots/${id}/events`))
    await eventually(() => events.length > 0, { what: 'the first event has arrived' })
    t.notMatch(events.at(-1)?.data, { status: 'completed' })
    page.release()
    await ended
    t.match(events.at(-1)?.data, { status: 'completed' })
  })

  t.test(
    `ingress ${name}: links begin with the public URL, and clients are identified by their addresses`,
    async (t) => {
      const { id = '' } = await dataOf(await post(name, '/screenshots', { url: 'https://example.com/' }))
      const { url = '' } = await dataOf(await post(name, `/screenshots/${id}/signed-url`))
      t.match(url, `https://${hosts.nginx}/v1/`)
      const wrong = async (localAddress: string, more: Record<string, string> = {}) => {
        const headers = { authorization: `Bearer sk_live_${name.padStart(40, '0')}`, ...more }
        return (await request(name, '/account', { localAddress, headers })).status
      }
      const [one, other] = name === 'nginx' ? ['127.0.0.2', '127.0.0.3'] : ['127.0.0.4', '127.0.0.5']
      t.equal(await wrong(one), 401)
      t.equal(await wrong(one), 429)
      t.equal(await wrong(one, { 'x-forwarded-for': '198.51.100.7' }), 429, "a client's own X-Forwarded-For is ignored")
      t.equal(await wrong(other), 401)
    },
  )
}

t.test('ingress nginx: without the annotations large bodies are rejected and events are buffered', async (t) => {
  // With a larger body the response may be lost, because nginx closes the connection during the upload.
  t.equal((await post('bare', '/screenshots/capture', ''.padEnd(1.25 * 1024 * 1024))).status, 413)
  const page = heldPage('events-bare')
  const { id = '' } = await dataOf(await post('bare', '/screenshots', { url: page.url }))
  let answered = false
  const events = request('bare', `/screenshots/${id}/events`).then((answer) => {
    answered = true
    return readEvents(answer).ended
  })
  const { events: seen } = readEvents(await request('nginx', `/screenshots/${id}/events`))
  await eventually(() => seen.length > 0 && page.captureCount() === 1)
  t.notOk(answered)
  page.release()
  await events
})

t.test("ingress: requests and event streams of 90 s succeed, but not with nginx's default timeout", async (t) => {
  const begunAt = performance.now()
  const page = heldPage('slow')
  const { id = '' } = await dataOf(await post('nginx', '/screenshots', { url: page.url }))
  const streams = await Promise.all(
    classes.map(async (name) => readEvents(await request(name, `/screenshots/${id}/events`))),
  )
  const answers = classes.map((name) => capture(name, page.url))
  t.equal((await capture('bare', page.url)).status, 504)
  await eventually(() => performance.now() - begunAt > heldMs, { withinMs: heldMs, what: '90 s have passed' })
  page.release()
  for (const answer of answers) t.equal((await answer).status, 200)
  for (const { events, ended } of streams) {
    await ended
    t.match(events.at(-1)?.data, { status: 'completed' })
  }
})
