import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { settingsOfPolicy, sidecarOfPolicy } from '#test/helpers/admission-policy.ts'
import { deniedNetworks } from '#shared/policy/special-networks.ts'
import { makeKeys } from '#cli/cluster/make-keys.ts'
import { readConfig as readOperator } from '#controller/operator/config.ts'
import { readConfig as readEgress } from '#egress/config.ts'
import { readConfig as readGateway } from '#gateway/context/config.ts'
import { readRouterConfig } from '#gateway/router/config.ts'
import { readConfig as readLedger } from '#ledger/config.ts'
import type { Env } from '#shared/config/read-env.ts'
import {
  chartFolder,
  type ChartObject,
  type ChartPod,
  ciNames,
  ciPath,
  filesOf,
  helm,
  helms,
  kubeVersion,
  objectsOf,
  podsOf,
  refusalOf,
  renderText,
} from '#test/helpers/chart.ts'
import { inShard } from '#test/helpers/in-shard.ts'
import { readConfig as readWebhooks } from '#webhooks/config.ts'

const run = promisify(execFile)
const shutterfleet = resolve(import.meta.dirname, '../../bin/shutterfleet')
const goldenFolder = resolve(import.meta.dirname, '../fixtures/chart')
const names = await ciNames()
const minimal = ciPath('minimal')
const noCrd = ['--set=crds.upgrade=false']
/** The configuration reader of each service, by its entry point. */
const readers: Readonly<Record<string, (env: Env) => object>> = {
  'services/gateway/main.js': readGateway,
  'services/gateway/main-router.js': readRouterConfig,
  'services/ledger/main.js': readLedger,
  'services/webhooks/main.js': readWebhooks,
  'services/controller/main-operator.js': readOperator,
  'services/egress/main.js': readEgress,
}

/** Golden files do not change with each release. */
const withoutVersion = (text: string) =>
  text.replaceAll(/(?<=shutterfleet-|version: "|shutterfleet\/\S*:)\d+\.\d+\.\d+(?![\d.])/g, '0.0.0')

/** The objects in a stable order. */
const comparable = (text: string) => objectsOf(text).toSorted((one, other) => idOf(one).localeCompare(idOf(other)))
const idOf = ({ kind, metadata }: ChartObject) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`

for (const which of helms) {
  t.test(`chart: ${which} lints every values file without errors`, async (t) => {
    t.ok(names.length >= 12, `${names.length} files`)
    for (const name of inShard(names)) {
      const printed = await helm(which, [
        'lint',
        '--strict',
        chartFolder,
        `--values=${ciPath(name)}`,
        `--kube-version=${kubeVersion}`,
      ])
      t.match(printed, /0 chart\(s\) failed/, name)
    }
  })
}

t.test('chart: Helm 3 and 4 render the same objects', async (t) => {
  for (const name of names) {
    const [three, four] = await Promise.all(helms.map((which) => renderText(ciPath(name), which)))
    t.strictSame(comparable(three ?? ''), comparable(four ?? ''), name)
  }
})

t.test('chart: values add containers, volumes and variables to those of the chart', async (t) => {
  const gateway = podsOf(objectsOf(await renderText(ciPath('complete')))).find(
    ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'gateway',
  )
  const { containers = [], volumes = [] } = gateway?.spec ?? {}
  t.match(containers, [{ name: 'gateway' }, { name: 'sidecar' }])
  t.match(
    volumes.map(({ name }) => name),
    ['tmp', 'extra-ca', 'secrets', 'mine'],
  )
  const variables = containers[0]?.env?.map(({ name }) => name)
  t.ok(variables?.includes('MINE') && variables.includes('SHUTTERFLEET_GATEWAY_PORT'), String(variables))
})

t.test('chart: names that YAML takes for other types stay texts', async (t) => {
  const rendered = await renderText(minimal, 'helm4', ['--set-string=fullnameOverride=true,workers.namespace=1e3'])
  const objects = objectsOf(rendered)
  const found = objects.flatMap(({ metadata }) => [metadata.name, metadata.namespace ?? ''])
  found.push(...podsOf(objects).map(({ spec }) => spec.serviceAccountName ?? ''))
  t.ok(found.includes('true') && found.includes('1e3'))
  t.strictSame(
    found.filter((each) => typeof each !== 'string'),
    [],
  )
})

t.test('chart: an Ingress without a host has TLS for all hosts', async (t) => {
  const sets = ['--set=ingress.enabled=true', '--set=ingress.tlsSecret=tls']
  const rendered = objectsOf(await renderText(minimal, 'helm4', sets))
  const spec = rendered.find(({ kind }) => kind === 'Ingress')?.['spec'] as { readonly tls: readonly object[] }
  t.strictSame(spec.tls, [{ hosts: [], secretName: 'tls' }])
})

t.test('chart: an alert that is off is left out', async (t) => {
  const rules = JSON.stringify(objectsOf(await renderText(ciPath('alerts'))))
  t.match(rules, '"ShutterfleetStoreDown"')
  t.notMatch(rules, '"alert":"ShutterfleetLoopFailing"')
})

t.test('chart: annotations may hold templates of other programs', async (t) => {
  const template = '{{- with secret "a" -}}'
  const values = ['pods.annotations', 'gateway.podAnnotations', 'gateway.service.annotations', 'ingress.annotations']
  const sets = values.map((name) => `--set-json=${name}=${JSON.stringify({ vault: template })}`)
  const rendered = objectsOf(await renderText(minimal, 'helm4', [...sets, '--set=ingress.enabled=true']))
  const annotated = rendered.filter(({ metadata }) => metadata.annotations?.['vault'] === template)
  t.match(annotated.map(({ kind }) => kind).toSorted(), ['Ingress', 'Pod', 'Service'])
  t.ok(podsOf(rendered).every((pod) => JSON.stringify(pod.metadata).includes(JSON.stringify(template))))
})

t.test('chart: a disruption budget has one bound, that of the service if it has one', async (t) => {
  const boundsOf = async (...sets: readonly string[]) =>
    objectsOf(
      await renderText(
        minimal,
        'helm4',
        sets.map((set) => `--set=${set}`),
      ),
    )
      .filter(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name.endsWith('-gateway'))
      .map(({ spec }) => spec)
  const all = 'pods.disruptionBudget'
  const own = 'gateway.disruptionBudget'
  const bound = async (...sets: readonly string[]) => {
    const [{ maxUnavailable, minAvailable } = {}] = (await boundsOf(...sets)) as readonly Readonly<
      Record<string, unknown>
    >[]
    return JSON.stringify({ maxUnavailable, minAvailable })
  }
  t.equal(await bound(), '{"maxUnavailable":1}')
  t.equal(await bound(`${all}.maxUnavailable=0`), '{"maxUnavailable":0}')
  t.equal(await bound(`${all}.minAvailable=1`, `${own}.maxUnavailable=2`), '{"maxUnavailable":2}')
  t.equal(await bound(`${all}.maxUnavailable=2`, `${own}.minAvailable=0`), '{"minAvailable":0}')
  t.strictSame(await boundsOf(`${all}.enabled=false`), [])
})

t.test('chart: Jobs end: they get no containers of all pods, and keep their own template', async (t) => {
  const sets = ['pods.pod.containers[0].name=mesh', 'jobs.job.template.a=b', 'jobs.job.selector.a=b']
  const rendered = objectsOf(
    await renderText(
      minimal,
      'helm4',
      sets.map((set) => `--set=${set}`),
    ),
  )
  const jobs = rendered.filter(({ kind }) => kind === 'Job')
  t.equal(jobs.length, 4)
  t.notMatch(JSON.stringify(jobs), /"mesh"|"a":"b"/)
  t.match(JSON.stringify(rendered.filter(({ kind }) => kind === 'Deployment')), '"mesh"')
})

t.test(
  'chart: the admission policy expects what the controller makes of workers, and what templates name',
  async (t) => {
    for (const name of ['minimal', 'tls', 'unconfined', 'identities', 'complete', 'evaluation', 'flags-only']) {
      const objects = objectsOf(await renderText(ciPath(name)))
      const policy = objects.find(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      const { variables } = policy!['spec'] as { readonly variables: readonly { name: string; expression: string }[] }
      const valueOf = (variable: string) =>
        JSON.parse(variables.find((each) => each.name === variable)!.expression) as unknown
      const controller = podsOf(objects).find(
        ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'controller',
      )
      const env = Object.fromEntries((controller?.spec.containers[0].env ?? []).map((each) => [each.name, each.value]))
      const settings = readOperator({
        ...env,
        SHUTTERFLEET_NATS_URL_FILE: undefined,
        SHUTTERFLEET_NATS_URL: 'nats://a:4222',
      })
      t.strictSame(valueOf('settings'), [settingsOfPolicy(settings)], name)
      t.equal(valueOf('instance'), settings.instance)
      t.ok((valueOf('images') as readonly string[]).includes(settings.podImage))
      if (name !== 'complete') continue
      t.ok((valueOf('images') as readonly string[]).includes('exporter:1'))
      t.strictSame(valueOf('sidecars'), [sidecarOfPolicy({ name: 'exporter', image: 'exporter:1' })])
      t.strictSame(valueOf('configMaps'), ['fonts'])
      t.strictSame(valueOf('podLabels'), ['example.com/team=web', 'kueue.x-k8s.io/queue-name=browsers'])
      t.strictSame(settings.podLabels, { 'example.com/team': 'web', 'kueue.x-k8s.io/queue-name': 'browsers' })
      t.strictSame(valueOf('podAnnotations'), ['sidecar.istio.io/inject=false'])
      t.strictSame(settings.podAnnotations, { 'sidecar.istio.io/inject': 'false' })
      t.strictSame(valueOf('runtimeClasses'), ['gvisor'])
      const allowed = JSON.parse(policy!.metadata.annotations!['shutterfleet.dev/allowed']!) as object
      t.match(allowed, { settings: valueOf('settings'), sidecars: [{ name: ['exporter'] }] })
    }
  },
)

/** The lines in which a rendered chart differs from the minimal one, under the names of their objects. */
const changesOf = async (name: string, path: string, minimalPath: string) => {
  const how = ['--unified=1', '--show-function-line=^  name:', '--label=minimal', `--label=${name}`]
  // Exits with 1 if there are any.
  const { stdout } = await run('diff', [...how, minimalPath, path]).catch((thrown: { stdout: string }) => thrown)
  return stdout.replaceAll(/^@@ .* @@/gm, '@@')
}

t.test('chart: renders the golden files', async (t) => {
  const folder = t.testdir()
  const pathOf = (name: string) => join(folder, name)
  for (const name of ['minimal', 'evaluation', 'network']) {
    const text = withoutVersion(await renderText(ciPath(name), 'helm4', noCrd))
    await writeFile(pathOf(name), text)
    const isMinimal = name === 'minimal'
    const golden = join(goldenFolder, isMinimal ? 'minimal.yaml' : `${name}.diff`)
    const found = isMinimal ? text : await changesOf(name, pathOf(name), pathOf('minimal'))
    if (process.env['UPDATE_GOLDEN']) await writeFile(golden, found)
    t.equal(found, await readFile(golden, 'utf8'), `UPDATE_GOLDEN=1 rewrites ${golden}`)
  }
})

t.test('chart: egress reaches the world outside of the denied networks, or an upstream proxy alone', async (t) => {
  const outOf = async (file: string) => {
    const policies = objectsOf(await renderText(file)).filter(({ kind }) => kind === 'NetworkPolicy')
    const filters = policies.filter(({ metadata }) => /-(webhook-)?egress$/.test(metadata.name))
    t.equal(filters.length, 2)
    return filters.map(({ spec }) => (spec as { readonly egress: readonly object[] }).egress.at(-1))
  }
  const isV6 = (block: string) => block.includes(':')
  const world = {
    to: [
      { ipBlock: { cidr: '0.0.0.0/0', except: deniedNetworks.filter((block) => !isV6(block)) } },
      { ipBlock: { cidr: '::/0', except: deniedNetworks.filter(isV6) } },
    ],
  }
  t.strictSame(await outOf(minimal), [world, world])
  const proxy = { to: [{ ipBlock: { cidr: '10.3.0.9/32' } }], ports: [{ port: 3128 }] }
  t.strictSame(await outOf(ciPath('upstream-proxy')), [proxy, proxy])
})

t.test('chart: no network policy opens a port to every address, in any variant and whatever the values', async (t) => {
  type Rule = { readonly to?: readonly object[]; readonly ports?: readonly { readonly port: number }[] }
  for (const name of ['minimal', 'evaluation', 'network', 'stealth', 'complete']) {
    const policies = objectsOf(await renderText(ciPath(name))).filter(({ kind }) => kind === 'NetworkPolicy')
    const rules = policies.flatMap(({ spec }) => (spec as { readonly egress?: readonly Rule[] }).egress ?? [])
    t.ok(rules.length > 0 && rules.every(({ to }) => to && to.length > 0), name)
    for (const port of [53, 4222])
      t.ok(
        rules.some(({ ports }) => ports?.some((each) => each.port === port)),
        `${name}: ${port}`,
      )
  }
  for (const name of [
    'postgresql',
    'nats',
    'storage',
    'kubernetes',
    'upstreamProxy',
    'dns',
    'tracing',
    'oidc',
    'cells',
  ]) {
    for (const rule of ['{"ports":[{"port":443}]}', '{"to":[],"ports":[{"port":443}]}']) {
      const anywhere = ['--set-json', `networkPolicy.${name}=[${rule}]`]
      t.match(await refusalOf(anywhere), new RegExp(`networkPolicy/${name}/0[^]*(to|minItems)`), name)
    }
  }
})

/** The environment of a container with its files in `folder`. */
const envOf = ({ spec }: ChartPod, folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (spec.containers[0].env ?? []).map(({ name, value = 'pod' }) => [
      name,
      value.replace(/^\/run\/secrets\/shutterfleet/, folder),
    ]),
  )

/** Paths of files in the environment of a pod's containers that no volume mount contains. */
const unmountedIn = ({ spec }: ChartPod): readonly string[] =>
  [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ env = [], volumeMounts }) =>
    env
      .map(({ value = '' }) => value)
      .filter((value) => /^\/(etc|run)\//.test(value))
      .filter((path) => !volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`))),
  )

t.test('chart: services and hooks accept their environment, files and arguments', async (t) => {
  const hosts = { egress: ['egress'], 'webhook-egress': ['webhook-egress'] }
  const keys = makeKeys({}, { nats: 'nats:4222', postgres: 'postgres:5432' }, hosts)
  const outside: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://a:b@postgres/c',
    DATABASE_DIRECT_URL: 'postgres://a:b@postgres/c',
    DATABASE_REPLICA_URL: 'postgres://a:b@replica/c',
    NATS_URL: 'nats://a:b@nats:4222',
    NATS_CREDENTIALS: 'a',
    NATS_CERTIFICATE: 'a',
    NATS_KEY: 'a',
    S3_URL: 'https://a:b@store/c?region=d',
    ADMIN_TOKEN: 'a-token-of-the-administration',
    ROUTER_TOKEN: 'a-token-of-the-router',
    ROUTER_TOKENS: 'one=a-token-of-the-router,two=another-of-the-router',
    ROUTER_PEPPERS: 'two=a-pepper-of-the-other-cell',
    API_KEY: 'sk_live_a',
    OIDC_CLIENT_SECRET: 'a',
    EGRESS_UPSTREAM_PROXY: 'http://a:b@proxy:3128',
    DATABASE_PASSWORD: 'a',
    S3_KEYS: '[default]',
    EGRESS_CERTIFICATE: 'a',
    EGRESS_KEY: 'a',
  }
  const folder = t.testdir()
  for (const name of names) {
    for (const pod of podsOf(objectsOf(await renderText(ciPath(name))))) {
      for (const { secret, key, path } of filesOf(pod)) {
        const content = secret.endsWith('-keys') ? keys[key] : outside[path]
        t.ok(content, `${name}: ${path} is ${key} of ${secret}`)
        await writeFile(join(folder, path), content ?? '')
      }
      t.strictSame(unmountedIn(pod), [], `${name}: every file is in a volume`)
      const [program, main = '', ...words] = pod.spec.containers[0].args
      if (program === 'node') t.ok(readers[main]?.(envOf(pod, folder)), `${name}: ${main}`)
      if (program !== 'shutterfleet' || name !== 'complete') continue
      // An unknown flag is rejected before the help is printed.
      const { stdout } = await run(shutterfleet, [main, ...words, '--help'])
      t.match(stdout, /^usage: /, [main, ...words].join(' '))
    }
  }
})

t.test('chart: services that send traces may reach the receiver, and read its headers from a Secret', async (t) => {
  const rendered = objectsOf(await renderText(ciPath('complete')))
  const nameOf = (env: readonly { readonly name: string }[] = []) => env.map(({ name }) => name)
  const pods = podsOf(rendered)
  const traced = pods.filter(({ spec }) =>
    spec.containers.some(({ env }) => nameOf(env).includes('OTEL_EXPORTER_OTLP_HEADERS')),
  )
  const componentOf = ({ metadata }: ChartPod) => metadata.labels['app.kubernetes.io/component'] ?? ''
  t.strictSame([...new Set(traced.map(componentOf))].toSorted(), ['gateway', 'ledger', 'webhooks'])
  t.notMatch(JSON.stringify(pods.filter((pod) => !traced.includes(pod))), 'OTEL_')
  const policies = rendered.filter((object) => object.kind === 'NetworkPolicy' && /4318/.test(JSON.stringify(object)))
  t.strictSame(policies.map(({ metadata }) => metadata.name.replace(/^.*-/, '')).toSorted(), [
    'gateway',
    'ledger',
    'webhooks',
  ])
})

t.test(
  'chart: the token of a role is mounted for its audience where images are read, and identities must be complete',
  async (t) => {
    t.match(await refusalOf(['--set=storage.keysFrom=web-identity']), /storage.roleArn is not set/)
    const both = ['--set=postgresql.passwordKey=a', '--set=postgresql.passwordCommand={b}']
    t.match(await refusalOf(both), /postgresql.passwordKey and postgresql.passwordCommand are both set/)
    t.match(
      await refusalOf(['--set=evaluation.enabled=true,nats.identity=nkey']),
      /nats.identity and .* cannot be used with/,
    )
    const pods = podsOf(objectsOf(await renderText(ciPath('identities'))))
    const withToken = pods.filter(({ spec }) => /"audience":"minio","path":"S3_TOKEN"/.test(JSON.stringify(spec)))
    const componentOf = ({ metadata }: ChartPod) => metadata.labels['app.kubernetes.io/component'] ?? ''
    t.strictSame(withToken.map(componentOf).toSorted(), ['gateway', 'ledger', 'webhooks'])
    const accounts = objectsOf(await renderText(ciPath('identities'))).filter(({ kind }) => kind === 'ServiceAccount')
    const ofRole = accounts.filter(({ metadata }) => metadata.annotations?.['eks.amazonaws.com/role-arn'])
    const databasePods = pods.filter(({ spec }) => JSON.stringify(spec).includes('DATABASE_PASSWORD_COMMAND'))
    t.strictSame(
      [...new Set(databasePods.map(({ spec }) => spec.serviceAccountName ?? ''))].toSorted(),
      ofRole.map(({ metadata }) => metadata.name).toSorted(),
    )
    const withCertificate = pods.filter(({ spec }) => JSON.stringify(spec).includes('/run/secrets/postgresql'))
    t.strictSame(withCertificate.map(componentOf).toSorted(), ['bootstrap', 'gateway', 'ledger', 'migrate', 'webhooks'])
  },
)

t.test('chart: with an OpenID Connect provider the gateway alone may reach it, and needs a client id', async (t) => {
  const issuer = '--set=gateway.oidc.issuer=https://id.example.com'
  const port = '--set-json=networkPolicy.oidc=[{"to":[{"ipBlock":{"cidr":"10.3.0.9/32"}}],"ports":[{"port":4443}]}]'
  t.match(await refusalOf([issuer]), /gateway.oidc.clientId is not set/)
  const reaches = async (args: readonly string[]) =>
    objectsOf(await renderText(minimal, 'helm4', args))
      .filter((object) => object.kind === 'NetworkPolicy' && /4443/.test(JSON.stringify(object)))
      .map(({ metadata }) => metadata.name.replace(/^.*-/, ''))
  t.strictSame(await reaches([issuer, '--set=gateway.oidc.clientId=x', port]), ['gateway'])
  t.strictSame(await reaches([port]), [])
})
