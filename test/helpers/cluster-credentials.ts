import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { clusterFiles, type ClusterPlace, serverUrl } from './cluster-programs.ts'

/** Users of a new cluster and the groups they are in. `admin` is who the tests are. */
const groups = {
  admin: 'system:masters',
  'kube-controller-manager': '',
  'kube-scheduler': '',
  kwok: 'system:masters',
} as const

const secret = { mode: 0o600 } as const

/** Writes the tokens, the kubeconfigs and the key of service accounts into the cluster's folder; answers admin's token. */
export const writeCredentials = async (place: ClusterPlace): Promise<string> => {
  const files = clusterFiles(place)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  // Go reads public keys out of this form of private keys, not out of PKCS #8.
  await writeFile(files.serviceAccountKey, privateKey.export({ format: 'pem', type: 'sec1' }), secret)

  const users = Object.entries(groups).map(([name, group]) => ({ name, group, token: randomBytes(16).toString('hex') }))
  await writeFile(files.tokens, users.map((user) => tokenLine(user)).join(''), secret)
  for (const { name, token } of users) await writeFile(files.kubeconfig(name), kubeconfig(place, token), secret)
  return users[0]!.token
}

const tokenLine = ({ name, group, token }: { name: string; group: string; token: string }) => {
  const user = name.startsWith('kube-') ? `system:${name}` : name
  return `${token},${user},${name},"${group}"\n`
}

/** JSON is YAML. */
const kubeconfig = (place: ClusterPlace, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: serverUrl(place), 'certificate-authority': clusterFiles(place).authority },
      },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
