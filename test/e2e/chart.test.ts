import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeKeys } from '#cli/cluster/make-keys.ts'
import { readConfig as readOperator } from '#controller/operator/config.ts'
import { readConfig as readEgress } from '#egress/config.ts'
import { readConfig as readGateway } from '#gateway/config.ts'
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
  renderText,
  unusedValues,
} from '#test/helpers/chart.ts'
import { leavesOf, readValues } from '#tools/docs/chart/read-values.ts'
import { readConfig as readWebhooks } from '#webhooks/config.ts'

const run = promisify(execFile)
const shutterfleet = resolve(import.meta.dirname, '../../bin/shutterfleet')
const goldenFolder = resolve(import.meta.dirname, '../fixtures/chart')
const names = await ciNames()
const minimal = ciPath('minimal')
const noCrd = ['--set=crds.upgrade=false']
const values = readValues(await readFile(join(chartFolder, 'values.yaml'), 'utf8'))
const leaves = leavesOf(values)
/** Of the four services that have a `readConfig` each, egress twice. */
const readers: Readonly<Record<string, (env: Env) => object>> = {
  'services/gateway/main.ts': readGateway,
  'services/ledger/main.ts': readLedger,
  'services/webhooks/main.ts': readWebhooks,
  'services/controller/main-operator.ts': readOperator,
  'services/egress/main.ts': readEgress,
}

const refusalOf = (args: readonly string[], file = minimal) =>
  renderText(file, 'helm4', args).then(
    () => 'rendered',
    ({ stderr }: { stderr: string }) => stderr,
  )

/** Without what differs from run to run, in one order. */
const comparable = (text: string) => objectsOf(text).toSorted((one, other) => idOf(one).localeCompare(idOf(other)))
const idOf = ({ kind, metadata }: ChartObject) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`

for (const which of helms) {
  t.test(`chart: ${which} lints every values file without a complaint`, async (t) => {
    t.ok(names.length >= 12, `${names.length} files`)
    for (const name of names) {
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

t.test('chart: Helm 3 and 4 make the same of it', async (t) => {
  for (const name of names) {
    const [three, four] = await Promise.all(helms.map((which) => renderText(ciPath(name), which)))
    t.strictSame(comparable(three ?? ''), comparable(four ?? ''), name)
  }
})

t.test('chart: the schema refuses what is no value', async (t) => {
  t.match(await refusalOf(['--set=gateway.replica=2']), /additional properties 'replica' not allowed/)
  t.match(await refusalOf(['--set-string=gateway.replicas=2']), /got string, want integer/)
  t.match(await refusalOf(['--set=logLevel=loud']), /must be one of/)
  t.match(await refusalOf(['--set=pools.fast.enabled=true']), /additional properties 'fast' not allowed/)
  t.match(await refusalOf(['--set-string=gateway.settings.NOT_A_SETTING=1']), /invalid propertyName 'NOT_A_SETTING'/)
  // What the chart decides, or reads from a Secret, is no setting of its user's.
  t.match(await refusalOf(['--set-string=gateway.settings.KEY_PEPPER=1']), /invalid propertyName 'KEY_PEPPER'/)
  t.match(await refusalOf(['--set-string=gateway.settings.GATEWAY_PORT=1']), /invalid propertyName 'GATEWAY_PORT'/)
  t.equal(await refusalOf(['--set-string=gateway.settings.SYNC_QUEUE_MS=1']), 'rendered')
})

t.test('chart: says what is missing', async (t) => {
  const empty = join(t.testdir(), 'empty.yaml')
  await writeFile(empty, '{}')
  t.match(await refusalOf([], empty), /postgresql\.existingSecret is not set[^]*nats\.existing[^]*storage\.existing/)
  t.match(
    await refusalOf(['--set=evaluation.enabled=true']),
    /postgresql\.existingSecret cannot be used with evaluation/,
  )
  t.match(await refusalOf(['--kube-version=1.32.0']), /needs Kubernetes 1\.33/)
  t.match(await refusalOf(['--set=workers.namespace=shots']), /workers\.namespace is that of the release/)
  t.match(await refusalOf(['--set=httpRoute.enabled=true']), /httpRoute\.parentRefs is empty/)
  t.equal(await refusalOf(['--kube-version=1.32.0', '--set=workers.isolation=flags-only']), 'rendered')
})

t.test('chart: every value is documented, and used', async (t) => {
  const undocumented = (all: typeof leaves) => all.filter(({ help }) => help === '').map(({ path }) => path.join('.'))
  t.strictSame(undocumented(leaves), [])
  t.strictSame(undocumented(leavesOf(readValues('a:\n  # About b.\n  b: 1\n  c: 2\n'))), ['a.c'])

  const folder = t.testdir()
  const chart = join(folder, 'shutterfleet')
  await cp(chartFolder, chart, { recursive: true })
  for (const [path, text] of [
    ['rules/sample.yaml', 'groups: []'],
    ['dashboards/sample.json', '{}'],
  ] as const) {
    await mkdir(join(chart, 'files', path, '..'), { recursive: true })
    await writeFile(join(chart, 'files', path), text)
  }
  const paths = leaves.map(({ path }) => path)
  t.strictSame(await unusedValues(paths, { chart, folder }), [])
  t.strictSame(await unusedValues([['gateway', 'nobody']], { chart, folder }), ['gateway.nobody'])
})

t.test('chart: renders what it did', async (t) => {
  await mkdir(goldenFolder, { recursive: true })
  for (const name of ['minimal', 'evaluation', 'network']) {
    const text = await renderText(ciPath(name), 'helm4', noCrd)
    const path = join(goldenFolder, `${name}.yaml`)
    if (process.env['UPDATE_GOLDEN']) await writeFile(path, text)
    t.strictSame(comparable(text), comparable(await readFile(path, 'utf8')), `UPDATE_GOLDEN=1 rewrites ${path}`)
  }
})

/** What a container reads, its files in `folder`. */
const envOf = ({ spec }: ChartPod, folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (spec.containers[0].env ?? []).map(({ name, value = 'pod' }) => [
      name,
      value.replace(/^\/run\/secrets\/shutterfleet/, folder),
    ]),
  )

t.test('chart: services and hooks understand what they are given', async (t) => {
  const keys = makeKeys({}, { nats: 'nats:4222', postgres: 'postgres:5432' })
  const outside: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://a:b@postgres/c',
    NATS_URL: 'nats://a:b@nats:4222',
    S3_URL: 'https://a:b@store/c?region=d',
    ADMIN_TOKEN: 'a-token-of-the-administration',
    API_KEY: 'sk_live_a',
  }
  const folder = t.testdir()
  for (const name of names) {
    for (const pod of podsOf(objectsOf(await renderText(ciPath(name))))) {
      for (const { secret, key, path } of filesOf(pod)) {
        const content = secret.endsWith('-keys') ? keys[key] : outside[path]
        t.ok(content, `${name}: ${path} is ${key} of ${secret}`)
        await writeFile(join(folder, path), content ?? '')
      }
      for (const { args, env = [], volumeMounts } of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
        const isMounted = (path: string) => volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`))
        const paths = env.flatMap(({ value = '' }) => (/^\/(etc|run)\//.test(value) ? [value] : []))
        for (const path of paths) t.ok(isMounted(path), `${name}: ${args.join(' ')} has ${path}`)
      }
      const [program, main = '', ...words] = pod.spec.containers[0].args
      if (program === 'node') t.ok(readers[main]?.(envOf(pod, folder)), `${name}: ${main}`)
      if (program !== 'shutterfleet' || name !== 'complete') continue
      // A flag that the command does not know is refused before help is given.
      const { stdout } = await run(shutterfleet, [main, ...words, '--help'])
      t.match(stdout, /^usage: /, [main, ...words].join(' '))
    }
  }
})
