import { createDestination } from '#gateway/db/upload-destinations.ts'
import { createWebhook } from '#gateway/db/webhooks.ts'
import { type LinkParameters, signRenderLink } from '#gateway/links/render-link.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { createLinkSecretDerivation, ensureLinkSecret } from '#shared/db/link-secrets.ts'
import { readSealingKey } from '#shared/queue/seal.ts'
import { type Client, createClient } from './client.ts'
import type { Exchange } from './history.ts'
import { type World, worldRecords } from './world.ts'

const keysOfAccount = 2
const plainAccounts = 6
/** Name of the upload destination. */
export const destination = 'archive'

/** The clients of a run, one for each of its twelve accounts, which use its keys in turn. */
export type Clients = {
  readonly plain: readonly Client[]
  /** With a small quota. */
  readonly edge: Client
  /** With a short retention. */
  readonly brief: Client
  /** With an upload destination. */
  readonly uploads: Client
  /** With two webhooks for all its captures. */
  readonly hooked: Client
  /** Whose links capture on demand; `sign` returns the path of one. */
  readonly links: Client
  readonly sign: (parameters: LinkParameters) => string
  /** Which a run with two cells may move. */
  readonly moved: Client
}

/** All clients of a run. */
export const allClients = ({ plain, edge, brief, uploads, hooked, links, moved }: Clients): readonly Client[] => [
  ...plain,
  ...[edge, brief, uploads, hooked, links, moved],
]

const system = 'system'

const addWebhooks = async (world: World, accountId: string) => {
  const { database, secrets, receiverUrl } = world
  const seals = { webhooksKey: readSealingKey(secrets.webhookKeys.public), records: worldRecords(world) }
  const fields = {
    accountId,
    events: ['screenshot.completed', 'screenshot.failed'],
    description: '',
    active: true,
  } as const
  for (const receiver of ['ok', 'twice'])
    await createWebhook(database, seals, { ...fields, url: `${receiverUrl}/${receiver}/${accountId}` })
}

const addDestination = async ({ database, secrets, bucketUrl }: World, accountId: string) => {
  const { origin, pathname } = new URL(bucketUrl)
  await createDestination(database, readSealingKey(secrets.webhookKeys.public), {
    ...{
      accountId,
      name: destination,
      endpoint: origin,
      region: 'us-east-1',
      bucket: pathname.slice(1),
      path_style: true,
    },
    ...{ url: bucketUrl, prefix: '', access_key_id: 'chaos', secret: 'chaos' },
  })
}

/** Creates the accounts of a run, past the services, which an earlier run may just have disturbed. */
export const createClients = async (world: World, record: (exchange: Exchange) => void): Promise<Clients> => {
  const {
    database,
    system: { baseUrl },
    secrets,
  } = world
  const pepper = secrets.keyPepper
  const create = async (plan = 'unlimited') => {
    const { id } = await createAccount(database, { name: 'chaos', email: 'chaos@example.com', plan })
    const created = []
    for (let n = 0; n < keysOfAccount; n += 1)
      created.push(await createKey(database, { accountId: id, name: '', domains: [], pepper }))
    const keys = created.map(({ key }) => key)
    const client = createClient(baseUrl, { id, keys, hasRetention: plan === 'brief' }, record)
    return { client, keyId: created[0]!.id }
  }
  const plain = []
  for (let n = 0; n < plainAccounts; n += 1) plain.push((await create()).client)
  const [links, uploads, hooked] = [await create(), await create(), await create()]
  await addWebhooks(world, hooked.client.account)
  await addDestination(world, uploads.client.account)
  const { keyId } = links
  const nonce = await ensureLinkSecret(database, { keyId, accountId: links.client.account, actor: system })
  const secret = createLinkSecretDerivation(pepper)(keyId, nonce)
  return {
    plain,
    edge: (await create('edge')).client,
    brief: (await create('brief')).client,
    uploads: uploads.client,
    hooked: hooked.client,
    links: links.client,
    sign: (parameters) => `/v1/render?${signRenderLink(secret, { key_id: keyId, ...parameters })}`,
    moved: (await create()).client,
  }
}
