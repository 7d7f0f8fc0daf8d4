import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeAuthority } from './authority.ts'
import { kubeconfig } from './cluster-credentials.ts'
import { endWithParent } from './cluster-processes.ts'
import type { TestCluster, WithTeardown } from './cluster.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

/** Built by scripts/build-keda.sh. */
const built = resolve(import.meta.dirname, '../../.tools/keda')
const namespace = 'keda'
const serviceAccount = 'keda-operator'
const service = 'keda-metrics-apiserver'
const apiService = 'v1beta1.external.metrics.k8s.io'
const startMs = 60_000
const logTailChars = 4000

/** A folder with the certificate of KEDA's two programs, named as in its Secret, which it creates by itself in a real cluster. */
const writeCertificates = async (t: WithTeardown, place: TestCluster['place']): Promise<string> => {
  const authority = await makeAuthority([`${service}.${namespace}.svc`])
  t.teardown(async () => authority[Symbol.asyncDispose]())
  const folder = join(place.folder, 'keda-certificates')
  await mkdir(folder)
  const files = { 'ca.crt': authority.caPath, 'tls.crt': authority.certPath, 'tls.key': authority.keyPath }
  for (const [name, path] of Object.entries(files)) await copyFile(path, join(folder, name))
  return folder
}

/** Applies KEDA's definitions, Roles and service account; returns the path of a kubeconfig of that account. */
const install = async ({ kubectl, addNamespace, place }: TestCluster): Promise<string> => {
  await addNamespace(namespace)
  const apply = ['apply', '--server-side']
  for (const part of ['crd', 'service_account', 'rbac']) await kubectl([...apply, '-k', join(built, 'config', part)])
  for (const file of ['role', 'role_binding']) {
    await kubectl([...apply, '-f', join(built, 'config/metrics-server', `${file}.yaml`)])
  }
  await kubectl(['wait', 'crd', '--all', '--for=condition=Established', '--timeout=30s'])
  const token = (await kubectl(['create', 'token', serviceAccount, '-n', namespace, '--duration=1h'])).trim()
  const path = join(place.folder, 'keda.kubeconfig')
  await writeFile(path, kubeconfig(place, token), { mode: 0o600 })
  return path
}

/** Registers the adapter on a loopback port as Kubernetes' source of external metrics. */
const registerAdapter = async ({ apply, kubectl }: TestCluster, port: number, authority: Buffer): Promise<void> => {
  await apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service, namespace },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  await apply(await readFile(join(built, 'config/metrics-server/api_service.yaml'), 'utf8'))
  const spec = { service: { port }, caBundle: authority.toString('base64') }
  await kubectl(['patch', 'apiservice', apiService, '--type=merge', '-p', JSON.stringify({ spec })])
}

/**
 * Installs KEDA and runs its operator and its metrics adapter with the rights of its service account, until the test's end.
 * Resolves once Kubernetes can read metrics from the adapter.
 */
export const startKeda = async (t: WithTeardown, cluster: TestCluster): Promise<void> => {
  const { place } = cluster
  const certificates = await writeCertificates(t, place)
  const config = await install(cluster)
  const start = async (program: string, flags: readonly string[]) => {
    const path = join(place.folder, `keda-${program}.log`)
    const log = await open(path, 'a')
    const child = spawn('setpriv', [...endWithParent, join(built, program), ...flags], {
      stdio: ['ignore', log.fd, log.fd],
      env: {
        KUBECONFIG: config,
        POD_NAMESPACE: namespace,
        KEDA_CLUSTER_OBJECT_NAMESPACE: namespace,
        WATCH_NAMESPACE: '',
      },
    })
    const ended = once(child, 'exit')
    t.teardown(async () => {
      child.kill('SIGKILL')
      await ended
      await log.close()
    })
    return async (isReady: () => Promise<boolean>) => {
      try {
        await eventually(isReady, { withinMs: startMs, what: `KEDA's ${program} is ready` })
      } catch (cause) {
        throw new Error((await readFile(path, 'utf8')).slice(-logTailChars), { cause })
      }
    }
  }
  const [health, metrics, secure, numbers] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const operatorReady = await start('operator', [
    `--cert-dir=${certificates}`,
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--metrics-service-bind-address=127.0.0.1:${metrics}`,
    '--metrics-bind-address=0',
  ])
  const adapterReady = await start('adapter', [
    ...['lister', 'authentication', 'authorization'].map((client) => `--${client}-kubeconfig=${config}`),
    `--cert-dir=${certificates}`,
    `--tls-cert-file=${certificates}/tls.crt`,
    `--tls-private-key-file=${certificates}/tls.key`,
    '--bind-address=127.0.0.1',
    `--secure-port=${secure}`,
    `--port=${numbers}`,
    `--metrics-service-address=127.0.0.1:${metrics}`,
  ])
  await operatorReady(async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok)
  await registerAdapter(cluster, secure, await readFile(join(certificates, 'ca.crt')))
  type Status = { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } }
  await adapterReady(async () => {
    const { status } = await cluster.get<Status>('apiservice', apiService)
    return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false
  })
}
