import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chartFolder, ciPath, objectsOf, renderText, unusedValues } from '#test/helpers/chart.ts'
import { inShard } from '#test/helpers/in-shard.ts'
import { listLeaves, readValues } from '#tools/docs/chart/read-values.ts'

const leaves = listLeaves(readValues(await readFile(join(chartFolder, 'values.yaml'), 'utf8')))

t.test('chart: every value is documented and used', async (t) => {
  const undocumented = (all: typeof leaves) => all.filter(({ help }) => help === '').map(({ path }) => path.join('.'))
  t.strictSame(undocumented(leaves), [])
  t.strictSame(undocumented(listLeaves(readValues('a:\n  # About b.\n  b: 1\n  c: 2\n'))), ['a.c'])

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
  t.strictSame(await unusedValues(inShard(paths), { chart, folder }), [])
  t.strictSame(await unusedValues([['gateway', 'nobody']], { chart, folder }), ['gateway.nobody'])
})

const settingsOf = (text: string, kind: string) => objectsOf(text).filter((object) => object.kind === kind)

t.test('chart: null removes a field, also an id of workers', async (t) => {
  const set = (...each: string[]) => renderText(ciPath('minimal'), 'helm4', [`--set=${each.join(',')}`])
  const text = await set(
    'pods.pod.securityContext.runAsUser=null',
    'pods.deployment.strategy=null',
    'gateway.disruptionBudget.maxUnavailable=null',
    'pools.standard.spec.autoscaling.slots=null',
    'workers.podSecurityContext.fsGroup=null',
    'workers.podSecurityContext.runAsUser=1000650000',
  )
  t.notMatch(text, /^ *(- )?[A-Za-z]+: null$/m)
  const [gateway] = settingsOf(text, 'Deployment')
  t.ok(gateway)
  t.notMatch(JSON.stringify(gateway), '"runAsUser"')
  const controller = settingsOf(text, 'Deployment').find(({ metadata }) => metadata.name.endsWith('-controller'))
  t.match(JSON.stringify(controller), JSON.stringify('{"runAsGroup":10001,"runAsUser":1000650000}'))
  const [policy] = settingsOf(text, 'ValidatingAdmissionPolicy')
  const ids = JSON.stringify(
    '"fsGroup":"","isolation":"namespace","natsFiles":"","runAsGroup":"10001","runAsUser":"1000650000"',
  )
  t.match(JSON.stringify(policy), ids.slice(1, -1))
})

t.test('chart: the migration knows how many connections the services open, during a rollout too', async (t) => {
  const sum = async (...set: string[]) =>
    /DATABASE_CONNECTIONS\n *value: "(\d+)"/.exec(
      await renderText(ciPath('minimal'), 'helm4', [
        '--set=crds.upgrade=false',
        ...set.map((each) => `--set${each.includes('"') ? '-json' : ''}=${each}`),
      ]),
    )?.[1]
  t.equal(await sum(), '94', 'three services, each two and one of a rollout, ten each; four of Jobs')
  t.equal(await sum('pods.deployment.strategy.rollingUpdate.maxSurge=0'), '64')
  t.equal(await sum('ledger.deployment.strategy.type=Recreate'), '84')
  t.equal(await sum('gateway.autoscaling.enabled=true,gateway.autoscaling.maxReplicas=8'), '164')
  t.equal(await sum('webhooks.settings.DATABASE_POOL_MAX="4"'), '76')
  t.equal(await sum('postgresql.directUrlKey=direct'), '22', 'behind a pooler')
})

t.test('chart: a changed Job of the keys has another name, in the same revision too', async (t) => {
  const nameWith = async (...more: string[]) => {
    const jobs = settingsOf(await renderText(ciPath('minimal'), 'helm4', more), 'Job')
    return jobs.find(({ metadata }) => metadata.name.includes('-keys-'))?.metadata.name
  }
  const name = await nameWith()
  t.equal(await nameWith(), name)
  t.not(await nameWith('--set=jobs.job.backoffLimit=3'), name)
  t.not(await nameWith('--set-string=jobs.podLabels.a=b'), name)
})

t.test(
  'chart: dashboards link to those of their release, and name its console and the base of its runbooks',
  async (t) => {
    const set = [
      'metrics.dashboards=true',
      'metrics.runbooksUrl=https://git.example.com/',
      'publicUrl=https://s.example.com',
    ]
    const text = await renderText(
      ciPath('monitoring'),
      'helm4',
      set.map((each) => `--set=${each}`),
    )
    const dashboards = objectsOf(text).flatMap(({ kind, metadata, data = {} }) =>
      kind === 'ConfigMap' && metadata.name.includes('-dashboard-')
        ? Object.values(data as Record<string, string>)
        : [],
    )
    for (const each of dashboards) {
      const { title } = JSON.parse(each) as { title: string }
      t.match(title, /^Shutterfleet shots \/ /)
      t.match(each, '"value": ["shots","shots-workers"]', 'the namespaces of the release are chosen')
    }
    t.equal(dashboards.length, (await readdir(join(chartFolder, 'files/dashboards'))).length)
    const own = dashboards.map((each) => (JSON.parse(each) as { uid: string }).uid)
    for (const each of dashboards) {
      for (const [, uid = ''] of each.matchAll(/"\/d\/([^"]+)"/g)) t.ok(own.includes(uid), uid)
      t.match(each, '"query": "https://git.example.com/"')
      t.match(each, '"query": "https://s.example.com"')
    }
  },
)

t.test('chart: of workers of Jobs only the metric of a breach is scraped, of others all', async (t) => {
  const relabel = '--set-json=metrics.endpoint={"metricRelabelings":[{"action":"labeldrop","regex":"x"}]}'
  const rendered = objectsOf(await renderText(ciPath('monitoring'), 'helm4', [relabel]))
  const monitors = rendered.filter(({ kind }) => kind === 'PodMonitor').map(({ spec }) => spec)
  const own = { action: 'labeldrop', regex: 'x' }
  const keep = { action: 'keep', regex: 'shutterfleet_worker_canary_connections_total', sourceLabels: ['__name__'] }
  const of = (operator: string, metricRelabelings: readonly object[]) => ({
    selector: { matchExpressions: [{ key: 'batch.kubernetes.io/job-name', operator }] },
    podMetricsEndpoints: [{ metricRelabelings }],
  })
  t.match(monitors, [of('Exists', [own, keep]), of('DoesNotExist', [own])])
  t.strictSame((monitors[1] as ReturnType<typeof of>).podMetricsEndpoints[0]?.metricRelabelings, [own])
})
