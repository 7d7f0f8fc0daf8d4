import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chartFolder, ciPath, helm, helms } from '#test/helpers/chart.ts'
import { startCluster } from '#test/helpers/cluster.ts'

// Pods and Jobs on fake nodes run no program and succeed.
const cluster = await startCluster(t)
const { kubectl } = cluster
const crd = 'browserpools.shutterfleet.dev'
const kinds = [
  ...['all', 'secrets', 'configmaps', 'serviceaccounts', 'roles', 'rolebindings', 'networkpolicies'],
  ...['poddisruptionbudgets', 'persistentvolumeclaims', 'ingresses'],
].join(',')

const clusterKinds = 'clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings'

const objectsIn = async (namespace: string) =>
  (await kubectl(['get', kinds, '-n', namespace, '-o', 'name']))
    .split('\n')
    .filter((name) => name !== '' && !/^(configmap\/kube-root-ca\.crt|serviceaccount\/default)$/.test(name))
    .toSorted()

const give = (namespace: string, secret: string, data: Readonly<Record<string, string>>) =>
  kubectl([
    ...['create', 'secret', 'generic', secret, '-n', namespace],
    ...Object.entries(data).map(([key, value]) => `--from-literal=${key}=${value}`),
  ])

const prepare = async (which: string) => {
  await cluster.addNamespace(which)
  await give(which, 'postgresql', { url: 'postgres://postgres/shots' })
  await give(which, 'nats', { 'gateway-url': 'nats://nats' })
  await give(which, 'bucket', { url: 'https://store/bucket' })
}
const env = { KUBECONFIG: cluster.kubeconfig }
const inPlace = (which: string) => [`--namespace=${which}`, `--values=${ciPath('minimal')}`, '--wait', '--timeout=50s']
const install = (which: (typeof helms)[number]) => helm(which, ['install', which, chartFolder, ...inPlace(which)], env)

t.test(
  'chart: Helm 3 and 4 install, upgrade, roll back and uninstall it, and releases share the BrowserPool definition',
  async (t) => {
    for (const which of helms) {
      await prepare(which)
      t.match(await install(which), /get secret .*-first-key/)
      const pools = await kubectl(['get', 'bp', '-n', `${which}-workers`, '-o', 'name'])
      t.match(pools, /proxied[^]*standard/)
      // The Job that creates the keys is not run here.
      const data = JSON.stringify({ data: { 'key-pepper': 'a2VwdA==' } })
      await kubectl(['patch', 'secret', `${which}-shutterfleet-keys`, '-n', which, '--type=merge', '-p', data])
    }
    const pepper = (which: string) =>
      kubectl(['get', 'secret', `${which}-shutterfleet-keys`, '-n', which, '-o', 'jsonpath={.data.key-pepper}'])

    // The releases share the definition of pools: an upgrade of either updates it.
    const values = join(t.testdir(), 'values.yaml')
    await writeFile(values, 'pools: { proxied: { enabled: false } }')
    for (const which of helms) {
      const uids = () => kubectl(['get', 'deploy', '-n', which, '-o', 'jsonpath={.items[*].metadata.generation}'])
      const before = await uids()
      await helm(which, ['upgrade', which, chartFolder, ...inPlace(which), `--values=${values}`], env)
      t.equal(await uids(), before, 'unchanged Deployments are not rolled')
      t.notMatch(await kubectl(['get', 'bp', '-n', `${which}-workers`, '-o', 'name']), /proxied/)
      await helm(which, ['upgrade', which, chartFolder, ...inPlace(which), '--set=image.worker.tag=next'], env)
      const policy = `${which}-shutterfleet-${which}`
      const images = "jsonpath={.spec.variables[?(@.name=='images')].expression}"
      t.match(
        await kubectl(['get', 'validatingadmissionpolicy', policy, '-o', images]),
        /worker:next.*worker:0\.1\.0/,
        'the previous worker image stays allowed until the workers are replaced',
      )
      await helm(which, ['rollback', which, '1', `--namespace=${which}`, '--wait', '--timeout=50s'], env)
      t.match(await kubectl(['get', 'bp', '-n', `${which}-workers`, '-o', 'name']), /proxied/)
      t.equal(await pepper(which), 'a2VwdA==', 'the keys are kept')
    }

    for (const which of helms) {
      await helm(which, ['uninstall', which, `--namespace=${which}`, '--wait', '--timeout=50s'], env)
      t.strictSame(await objectsIn(which), [
        'secret/bucket',
        `secret/${which}-shutterfleet-first-key`,
        `secret/${which}-shutterfleet-keys`,
        'secret/nats',
        'secret/postgresql',
      ])
      t.match(await kubectl(['get', 'crd', crd, '-o', 'name']), crd)
      const ofCluster = await kubectl(['get', clusterKinds, '-l', `app.kubernetes.io/instance=${which}`, '-o', 'name'])
      t.equal(ofCluster, '')
    }

    // The keys of the uninstalled release were kept and are adopted.
    t.match(await install('helm4'), /get secret .*-first-key/)
    t.equal(await pepper('helm4'), 'a2VwdA==')
  },
)
