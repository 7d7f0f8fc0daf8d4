import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, flagText, flagTexts, requiredText, type ParsedArgs, UsageError } from '#cli/command/command.ts'
import { type Pool, pools } from '#shared/capture/lane.ts'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'
import { fillSecret, withCluster } from './cluster-api.ts'
import { makeKeys, type SecretTexts, workerKeys } from './make-keys.ts'

const readFolder = async (folder: string | undefined): Promise<SecretTexts> => {
  if (folder === undefined) return {}
  // A mounted Secret contains symbolic links to folders beside the keys.
  const names = (await readdir(folder)).filter((name) => name.startsWith('worker-'))
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(texts))
}

const readAuthorities = async (path: string | undefined): Promise<string | undefined> => {
  const certificates = await readExtraCertificates(path ?? '', '--authorities')
  return certificates.length === 0 ? undefined : certificates.join('')
}

const readPools = (args: ParsedArgs): readonly Pool[] =>
  flagTexts(args, 'pool').map((name) => {
    const pool = pools.find((each) => each === name)
    if (pool === undefined) throw new UsageError(`--pool ${name}: must be one of ${pools.join(', ')}`)
    return pool
  })

const secretManifest = (name: string, namespace: string | undefined, stringData: SecretTexts) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  stringData,
})

/** `cluster keys`: generates the keys that the Secrets of an installation on Kubernetes lack, and renews certificates. */
export const clusterKeys: Command = {
  usage: 'cluster keys --secret NAME --worker-secret NAME [--pool POOL]… [--manifest]',
  summary: 'generates the keys that the Secrets of an installation on Kubernetes lack, and renews certificates',
  json: '{ secret: names of new keys }; with --manifest the manifest',
  flags: {
    secret: { type: 'string', value: 'NAME', help: 'Secret of the services, in the namespace of the pod' },
    'worker-secret': { type: 'string', value: 'NAME', help: 'name prefix of the Secrets of workers; the pool follows' },
    'workers-namespace': { type: 'string', value: 'NS', help: 'namespace of the workers (default that of the pod)' },
    pool: { type: 'string', value: 'POOL', multiple: true, help: 'pool of workers that gets a Secret' },
    nats: { type: 'string', value: 'HOST:PORT', help: 'address of a bundled NATS server: generates its users' },
    'nats-urls': {
      type: 'string',
      value: 'DIR',
      help: 'folder with the URLs of an external NATS, as worker-POOL-url, and files by which workers identify themselves, as worker-POOL-credentials, -nkey, -tls.crt and -tls.key',
    },
    postgres: { type: 'string', value: 'HOST:PORT', help: 'address of a bundled PostgreSQL: generates its password' },
    egress: {
      type: 'string',
      value: 'HOST',
      multiple: true,
      help: 'host name of the egress filter: makes its certificate, and renews it long before it ends',
    },
    'webhook-egress': {
      type: 'string',
      value: 'HOST',
      multiple: true,
      help: 'host name of the egress filter of webhooks, likewise',
    },
    authorities: {
      type: 'string',
      value: 'FILE',
      help: 'PEM certificates that workers trust, for their Secrets',
    },
    manifest: { type: 'boolean', help: 'print new Secrets as a manifest, without a cluster' },
  },
  run: async ({ env, print }, args) => {
    const name = requiredText(args, 'secret')
    const workerSecret = requiredText(args, 'worker-secret')
    const external = {
      nats: await readFolder(flagText(args, 'nats-urls')),
      authorities: await readAuthorities(flagText(args, 'authorities')),
    }
    const servers = { nats: flagText(args, 'nats'), postgres: flagText(args, 'postgres') }
    const hosts = { egress: flagTexts(args, 'egress'), 'webhook-egress': flagTexts(args, 'webhook-egress') }
    const workers = readPools(args).map((pool) => ({ pool, name: `${workerSecret}-${pool}` }))
    const workersNamespace = flagText(args, 'workers-namespace')

    if (args.flags['manifest'] === true) {
      const keys = makeKeys({}, servers, hosts)
      const ofWorkers = workers.map((each) =>
        secretManifest(each.name, workersNamespace, workerKeys(each.pool, keys, external)),
      )
      const items = [secretManifest(name, undefined, keys), ...ofWorkers]
      const list = { apiVersion: 'v1', kind: 'List', items }
      return print({ json: list, text: JSON.stringify(list, null, 2) })
    }
    await withCluster(env, async ({ api, namespace }) => {
      const filled = await fillSecret(api, { namespace, name, desired: (data) => makeKeys(data, servers, hosts) })
      const written = { [name]: filled.written }
      for (const each of workers) {
        const desired = () => workerKeys(each.pool, filled.data, external)
        const target = { namespace: workersNamespace ?? namespace, name: each.name }
        written[each.name] = (await fillSecret(api, { ...target, desired })).written
      }
      const lines = Object.entries(written).map(([secret, keys]) => `${secret}: ${keys.join(', ') || 'unchanged'}`)
      print({ json: written, text: lines.join('\n') })
    })
  },
}
