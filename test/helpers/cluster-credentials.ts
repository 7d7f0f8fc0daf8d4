import { execFile } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  clusterFiles,
  type ClusterPlace,
  controllerUser,
  kubeletAuthority,
  nodeName,
  serverUrl,
} from './cluster-programs.ts'

const run = promisify(execFile)
const opensslMs = 10_000
const secret = { mode: 0o600 } as const

/** Name of a kubeconfig, name of the user in it, and the user's token and group. */
type User = { readonly file: string; readonly name: string; readonly token: string; readonly group: string }

/** Writes tokens, kubeconfigs (`admin` is the tests' own) and the key of service accounts into the cluster's folder. */
export const writeCredentials = async (place: ClusterPlace): Promise<void> => {
  const files = clusterFiles(place)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  // Kubernetes derives the public key from SEC 1 private keys, not from PKCS #8.
  await writeFile(files.serviceAccountKey, privateKey.export({ format: 'pem', type: 'sec1' }), secret)

  const users = usersOf(place)
  const lines = users.map(({ name, token, group }) => `${token},${name},${name},"${group}"\n`)
  await writeFile(files.tokens, lines.join(''), secret)
  for (const { file, token } of users) await writeFile(files.kubeconfig(file), kubeconfig(place, token), secret)
  if (place.network) await writeKubeletClient(place)
}

/** Client certificate of kube-apiserver for kubelets; `system:masters` has all permissions there. */
const writeKubeletClient = async (place: ClusterPlace): Promise<void> => {
  const authority = kubeletAuthority(place)
  const key = authority.replace(/crt$/, 'key')
  const client = join(place.folder, 'kubelet-client')
  const openssl = (...args: readonly string[]) => run('openssl', args, { timeout: opensslMs })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const subject = ['-subj', '/O=system:masters/CN=kube-apiserver']
  await openssl('req', '-x509', ...newKey, '-keyout', key, '-out', authority, '-days', '2', '-subj', '/CN=kubelets')
  await openssl('req', ...newKey, '-keyout', `${client}.key`, '-out', `${client}.csr`, ...subject)
  const signed = ['-in', `${client}.csr`, '-CA', authority, '-CAkey', key, '-CAcreateserial', '-days', '2']
  await openssl('x509', '-req', ...signed, '-out', `${client}.crt`)
}

const usersOf = (place: ClusterPlace): User[] => {
  const program = (file: string, name: string, group: string) => {
    return { file, name, group, token: randomBytes(16).toString('hex') }
  }
  return [
    { file: 'admin', name: 'admin', group: 'system:masters', token: place.token },
    program('kube-controller-manager', 'system:kube-controller-manager', ''),
    program('kube-scheduler', 'system:kube-scheduler', ''),
    program('kwok', 'kwok', 'system:masters'),
    program(controllerUser, controllerUser, ''),
    ...(place.network ? [program('kube-proxy', 'system:kube-proxy', '')] : []),
    ...Array.from({ length: place.network ? (place.nodes ?? 0) : 0 }, (_, index) =>
      program(nodeName(index + 1), `system:node:${nodeName(index + 1)}`, 'system:nodes'),
    ),
  ]
}

/** A kubeconfig as JSON, which is valid YAML. */
const kubeconfig = (place: ClusterPlace, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: serverUrl(place), 'certificate-authority': clusterFiles(place).authority } },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
