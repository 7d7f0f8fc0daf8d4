import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { clusterFiles, type ClusterPlace, controllerUser, serverUrl } from './cluster-programs.ts'

const secret = { mode: 0o600 } as const

/** Name of a kubeconfig, name of the user in it, and the user's token and group. */
type User = { readonly file: string; readonly name: string; readonly token: string; readonly group: string }

/** Writes tokens, kubeconfigs (`admin` is the tests' own) and the key of service accounts into the cluster's folder. */
export const writeCredentials = async (place: ClusterPlace): Promise<void> => {
  const files = clusterFiles(place)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  // Kubernetes finds the public key in this form of a private key, not in PKCS #8.
  await writeFile(files.serviceAccountKey, privateKey.export({ format: 'pem', type: 'sec1' }), secret)

  const users = usersOf(place)
  const lines = users.map(({ name, token, group }) => `${token},${name},${name},"${group}"\n`)
  await writeFile(files.tokens, lines.join(''), secret)
  for (const { file, token } of users) await writeFile(files.kubeconfig(file), kubeconfig(place, token), secret)
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
  ]
}

/** As JSON, which is YAML. */
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
