import { execFile } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
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
  await writeClient(files.frontProxyAuthority, files.frontProxyClient, '/CN=front-proxy')
  // `system:masters` has all permissions on kubelets.
  if (place.network)
    await writeClient(kubeletAuthority(place), files.kubeletClient, '/O=system:masters/CN=kube-apiserver')
}

/** Writes a client certificate of kube-apiserver with its key, signed by a new authority, whose certificate is `authority`. */
const writeClient = async (authority: string, client: string, subject: string): Promise<void> => {
  const key = authority.replace(/crt$/, 'key')
  const openssl = (...args: readonly string[]) => run('openssl', args, { timeout: opensslMs })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await openssl('req', '-x509', ...newKey, '-keyout', key, '-out', authority, '-days', '2', '-subj', '/CN=authority')
  await openssl('req', ...newKey, '-keyout', `${client}.key`, '-out', `${client}.csr`, '-subj', subject)
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
export const kubeconfig = (place: ClusterPlace, token: string): string =>
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
