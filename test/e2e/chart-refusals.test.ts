import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chartFolder, ciPath, helm, kubeVersion, refusalOf } from '#test/helpers/chart.ts'

t.test('chart: the values schema rejects unknown and invalid values', async (t) => {
  t.match(await refusalOf(['--set=gateway.replica=2']), /additional properties 'replica' not allowed/)
  t.match(await refusalOf(['--set-string=gateway.replicas=2']), /got string, want integer/)
  t.match(await refusalOf(['--set=logLevel=loud']), /must be one of/)
  t.match(await refusalOf(['--set=pools.fast.enabled=true']), /additional properties 'fast' not allowed/)
  // Variables that the chart sets itself or reads from a Secret are no settings.
  for (const name of ['NOT_A_SETTING', 'KEY_PEPPER', 'GATEWAY_PORT']) {
    const refused = await refusalOf([`--set-string=gateway.settings.${name}=1`])
    t.match(refused, `at '/gateway/settings': additional properties '${name}' not allowed`)
  }
  t.equal(await refusalOf(['--set-string=gateway.settings.SYNC_QUEUE_MS=1']), 'rendered')
})

t.test('chart: what the API server would refuse after the migration is refused before it', async (t) => {
  const scaling = 'pools.standard.spec.autoscaling'
  t.match(
    await refusalOf([`--set=${scaling}.maxReplica=3`]),
    /spec\/autoscaling': additional properties 'maxReplica' not/,
  )
  t.match(await refusalOf([`--set=${scaling}.slots=many`]), /autoscaling\/slots': got string, want/)
  t.match(await refusalOf([`--set=${scaling}.minReplicas=30`]), /minReplicas \(30\) is above maxReplicas \(10\)/)
  t.match(
    await refusalOf([`--set=${scaling}.minReplicas=0`]),
    /standard\.spec\.autoscaling\.cooldownSeconds is not set/,
  )
  t.match(
    await refusalOf(['--set=gateway.autoscaling.enabled=true,gateway.autoscaling.minReplicas=9']),
    /gateway\.autoscaling\.minReplicas \(9\) is above maxReplicas \(6\)/,
  )
  const budget = (name: string) => `--set=${name}.minAvailable=1,${name}.maxUnavailable=1`
  t.match(await refusalOf([budget('ledger.disruptionBudget')]), /ledger\.disruptionBudget has minAvailable and max/)
  t.match(await refusalOf(['--set=workers.podSecurityContext.runAsUser=0']), /minimum: got 0, want 1/)
})

t.test('chart: rendering fails with the name of a missing or unsupported value', async (t) => {
  const empty = join(t.testdir(), 'empty.yaml')
  await writeFile(empty, '{}')
  t.equal(await refusalOf([], empty), 'rendered', 'without a cluster, for scanners and catalogues')
  t.match(
    await refusalOf(['--api-versions=v1/Namespace'], empty),
    /postgresql\.existingSecret is not set[^]*nats\.existing[^]*storage\.existing/,
  )
  const known = ['--api-versions=v1/Namespace']
  t.equal(await refusalOf(known), 'rendered')
  for (const name of ['postgresql', 'storage', 'kubernetes', 'nats']) {
    t.match(
      await refusalOf([...known, `--set-json=networkPolicy.${name}=[]`]),
      new RegExp(`networkPolicy\\.${name} is empty`),
    )
  }
  for (const [name, feature] of [
    ['oidc', 'gateway.oidc.issuer=https://id.example.com,gateway.oidc.clientId=shots'],
    ['tracing', 'tracing.endpoint=http://collector:4318'],
    ['tracing', 'gateway.activityLogsUrl=http://collector:4318'],
    ['upstreamProxy', 'upstreamProxy.existingSecret=proxy'],
    [
      'cells',
      'gateway.trustedProxies={10.0.0.0/8},router.enabled=true,router.cells[0].name=a,router.cells[0].url=http://a',
    ],
  ] as const) {
    t.match(await refusalOf([...known, `--set=${feature}`]), new RegExp(`networkPolicy\\.${name} is empty`))
  }
  t.equal(await refusalOf([...known, '--set=networkPolicy.enabled=false,networkPolicy.storage=null']), 'rendered')
  t.match(
    await refusalOf(['--set=evaluation.enabled=true']),
    /postgresql\.existingSecret cannot be used with evaluation/,
  )
  const program = '--set=postgresql.passwordCommand={a}'
  t.match(
    await refusalOf(['--set=evaluation.enabled=true', program]),
    /postgresql\.passwordCommand cannot be used with/,
  )
  t.match(await refusalOf(['--set=services.type=NodePort']), /services\.type would apply to every Service/)
  t.match(await refusalOf(['--set=gateway.service.spec.type=NodePort']), /service\.spec\.type has no effect/)
  t.match(
    await refusalOf(['--set=router.enabled=true']),
    /router\.cells is empty[^]*router\.existingSecret is empty[^]*gateway\.trustedProxies is empty/,
  )
  t.match(await refusalOf(['--set=router.existingSecret=router']), /gateway\.trustedProxies is empty/)
  t.match(await refusalOf(['--set-json=postgresql.passwordCommand=["a","b,c"]']), /does not match pattern/)
  t.match(await refusalOf(['--set-string=fullnameOverride=1e3']), /does not match pattern/)
  t.match(await refusalOf(['--kube-version=1.32.0']), /needs Kubernetes 1\.33/)
  t.match(await refusalOf(['--set=workers.namespace=shots']), /workers\.namespace is that of the release/)
  t.match(await refusalOf(['--set=httpRoute.enabled=true']), /httpRoute\.parentRefs is empty/)
  t.match(
    await refusalOf([`--namespace=${'n'.repeat(60)}`]),
    /workers\.namespace: n+-workers has more than 63 characters/,
  )
  const args = ['template', '2-shots', chartFolder, `--values=${ciPath('minimal')}`, `--kube-version=${kubeVersion}`]
  const refused = await helm('helm4', args).catch(({ stderr }: { stderr: string }) => stderr)
  t.match(refused, /fullnameOverride is not set: 2-shots-shutterfleet,/)
  t.match(
    await refusalOf(['--set=migrations.enabled=false', '--set-json=plans=[{}]']),
    /plans have no effect with migrations\.enabled=false/,
  )
  t.equal(await refusalOf(['--set=enabled=true']), 'rendered', 'as a dependency with a condition')
  const alerts = 'metrics.prometheusRule=true,metrics.alerts'
  t.match(await refusalOf([`--set=${alerts}.Nobody.for=1m`]), /metrics\.alerts\.Nobody: the chart has no alert/)
  t.match(await refusalOf([`--set=${alerts}.ShutterfleetCaptureFaultsFast.threshold=1`]), /set expr instead/)
  t.equal(await refusalOf(['--kube-version=1.32.0', '--set=workers.isolation=flags-only']), 'rendered')
})
