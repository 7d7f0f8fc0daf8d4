import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { createKubeApi } from '#shared/kube/client.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import { captureLabel, fieldOwner, workersName } from '#shared/kube/names.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { controllerRole, grantController } from '#test/helpers/controller-role.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'

const run = promisify(execFile)
const tool = resolve(import.meta.dirname, '../../tools/role/compare-verbs.ts')
const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }
const deployments = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' }

const role = (rules: readonly object[], kind = 'Role') =>
  JSON.stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'controller' }, rules })
const small = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'list'] },
  { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['patch'] },
]

/** The output lines and the exit code of the tool for a Role and the requested verbs. */
const compare = async (t: { testdir: () => string }, text: string, used: readonly string[]) => {
  const folder = t.testdir()
  await mkdir(join(folder, 'verbs'))
  await writeFile(join(folder, 'role.yaml'), text)
  for (const [index, line] of used.entries()) await writeFile(join(folder, 'verbs', String(index)), `${line}\n`)
  const running = run(process.execPath, [tool, 'role.yaml', 'verbs'], { cwd: folder, env: {} })
  return running.then(
    ({ stdout }) => ({ code: 0, output: stdout.trim().split('\n') }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, output: stderr.trim().split('\n') }),
  )
}
const requested = ['create configmaps', 'list configmaps', 'patch deployments.apps/scale']

const variable = 'CONTROLLER_VERBS_FOLDER'

/** Sets the folder in which clusters record the controller's verbs until the end of the test; returns the previous one too. */
const keepVerbsIn = async (t: { testdir: () => string; teardown: (clean: () => void) => void }) => {
  const before = process.env[variable]
  const folder = join(t.testdir(), 'verbs')
  await mkdir(folder)
  process.env[variable] = folder
  t.teardown(() => {
    if (before === undefined) delete process.env[variable]
    else process.env[variable] = before
  })
  return { folder, before }
}

t.test(
  'least privilege: all requests of the controller are recorded, allowed or not, and those of no other user',
  async (t) => {
    const { folder } = await keepVerbsIn(t)
    const file = join(folder, '..', 'role.yaml')
    await writeFile(file, role(small))
    const cluster = await startCluster(t, { controllerManager: false, kwok: false })
    await grantController(cluster, 'default', file)
    await using connection = openConnection({ kubeconfig: cluster.controllerKubeconfig, userAgent: 'test' })
    const api = createKubeApi(connection)
    const all = { resource: configMaps, namespace: 'default' }
    await api.create(all, { metadata: { name: 'one' } })
    await api.create(all, { metadata: { name: 'two' } })
    await api.list(all, { limit: 1 })
    t.equal(await api.remove({ ...all, name: 'one' }).then(String, outcomeOf), 'forbidden')
    const scale = { resource: deployments, namespace: 'default', name: 'none', subresource: 'scale' } as const
    t.equal(await api.patch(scale, { kind: 'merge', body: {} }).then(String, outcomeOf), 'not-found')
    t.match(await cluster.requests(), [
      { verb: 'create', resource: 'configmaps', name: 'one', status: 201 },
      { verb: 'create', resource: 'configmaps', status: 201 },
      { verb: 'list', resource: 'configmaps', status: 200 },
      { verb: 'delete', resource: 'configmaps', name: 'one', status: 403 },
      { verb: 'patch', resource: 'deployments.apps/scale', name: 'none', status: 404 },
    ])
    await cluster.stop()

    const [written, ...more] = await readdir(folder)
    t.strictSame(more, [])
    t.strictSame((await readFile(join(folder, written!), 'utf8')).trim().split('\n'), [
      'create configmaps',
      'delete configmaps',
      'list configmaps',
      'patch deployments.apps/scale',
    ])
  },
)

t.test('least privilege: the operator works with its shipped Role and needs each permission of it', async (t) => {
  const { folder, before } = await keepVerbsIn(t)
  const world = await startOperatorCluster(t)
  const { cluster, queue, fleet, operator, applyPool, settles } = world
  const size = (replicas: number) => applyPool('pool', { autoscaling: { enabled: false }, replicas })
  // Scale up twice by the same size, so that its event is patched.
  for (const replicas of [1, 2, 1, 2]) {
    await size(replicas)
    await settles('pool', replicas)
  }

  // Objects without the label are not in the controller's caches.
  const unlabel = 'app.kubernetes.io/managed-by-'
  const name = workersName('pool')
  for (const kind of ['deployment', 'pdb']) await cluster.kubectl(['label', kind, name, unlabel])
  const selector = `app.kubernetes.io/managed-by=${fieldOwner}`
  for (const kind of ['deployment', 'pdb']) {
    const found = async () => (await cluster.get<{ items: KubeObject[] }>(kind, '-l', selector)).items.length
    await eventually(async () => (await found()) === 1, { what: `the label of the ${kind} is back` })
  }

  const [pod] = await world.podsOf('pool')
  fleet.injectFault(pod!.metadata.name, { kind: 'silent' })
  const isGone = async () => (await world.podsOf('pool')).every(({ metadata }) => metadata.uid !== pod!.metadata.uid)
  await eventually(isGone, { withinMs: 40_000, what: 'the silent worker is replaced' })

  await applyPool('jobs', { pool: 'proxied' })
  const ids = await queue.send(2, { pool: 'proxied' })
  await queue.allEnded()
  const claimed = async () => (await cluster.get<{ items: KubeObject[] }>('jobs', '-l', captureLabel)).items.length
  await eventually(async () => (await claimed()) === ids.length, { what: 'both Jobs show their claims' })
  await operator.stop()
  await cluster.stop()

  if (before !== undefined) await cp(folder, before, { recursive: true })
  const { stdout } = await run(process.execPath, [tool, controllerRole, folder], { env: {} })
  t.match(stdout, /controller-role\.yaml: the Role allows exactly the \d+ permissions that the controller uses\./)
  const planted = join(folder, '..', 'planted.yaml')
  const rule = "  - apiGroups: ['']\n    resources: [secrets]\n    verbs: [get]\n"
  await writeFile(planted, (await readFile(controllerRole, 'utf8')) + rule)
  await t.rejects(run(process.execPath, [tool, planted, folder], { env: {} }), /"get secrets" is allowed, but no test/)
})

t.test('least privilege: a Role that allows exactly the requested verbs passes', async (t) => {
  t.strictSame(await compare(t, role(small), requested), {
    code: 0,
    output: ['role.yaml: the Role allows exactly the 3 permissions that the controller uses.'],
  })
})

t.test('least privilege: an unused permission of a Role is reported', async (t) => {
  const more = [...small, { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] }]
  t.strictSame(await compare(t, role(more), [...requested, 'create jobs.batch']), {
    code: 1,
    output: ['role.yaml: "delete jobs.batch" is allowed, but no test of the whole suite requests it.'],
  })
})

t.test('least privilege: a requested verb that a Role does not allow is reported', async (t) => {
  t.strictSame(await compare(t, role(small), [...requested, 'list secrets']), {
    code: 1,
    output: ['role.yaml: "list secrets" is requested but not allowed.'],
  })
})

t.test('least privilege: a Role with wildcard verbs and a ClusterRole are reported', async (t) => {
  const wide = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
  t.match(await compare(t, role(wide, 'ClusterRole'), []), {
    code: 1,
    output: [/"\* configmaps" is a wildcard/, /ClusterRole controller: only Roles are allowed/],
  })
})
