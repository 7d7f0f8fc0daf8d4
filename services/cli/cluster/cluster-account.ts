import { type Command, flagText, requiredText } from '#cli/command/command.ts'
import { createAccount } from '#shared/db/accounts.ts'
import { createKey } from '#shared/db/keys.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { passwordSource } from '#shared/db/password.ts'
import { readEnv } from '#shared/config/read-env.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { databasePasswordSettings, databaseSettings } from '#shared/config/settings/outside.ts'
import { fillSecret, readSecret, withCluster } from './cluster-api.ts'
import type { SecretTexts } from './make-keys.ts'

const settings = {
  ...databasePasswordSettings,
  databaseUrl: databaseSettings.databaseUrl,
  pepper: gatewaySettings.keyPepper,
}

/** `cluster account`: creates the first account and its key and stores both in a Secret; resumes after a failed attempt. */
export const clusterAccount: Command = {
  usage: 'cluster account --secret NAME --plan SLUG [--name N] [--email E]',
  summary: 'creates the first account and its API key in a Kubernetes Secret that has none yet',
  json: '{ accountId }',
  flags: {
    secret: { type: 'string', value: 'NAME', help: 'Secret for account-id and api-key' },
    plan: { type: 'string', value: 'SLUG', help: 'plan, such as unlimited' },
    name: { type: 'string', value: 'N', help: 'name of the account (default first)' },
    email: { type: 'string', value: 'E', help: 'email address of its owner' },
  },
  run: async ({ env, print }, args) => {
    const secret = requiredText(args, 'secret')
    const plan = requiredText(args, 'plan')
    const [name, email] = [flagText(args, 'name') ?? 'first', flagText(args, 'email') ?? 'first@localhost']
    const { databaseUrl, pepper, ...identity } = readEnv(settings, env)
    await withCluster(env, async ({ api, namespace }) => {
      const { 'account-id': existingId, 'api-key': existingKey } = (await readSecret(api, namespace, secret)).data
      if (existingKey !== undefined)
        return print({ json: { accountId: existingId }, text: `account ${existingId} is there` })
      const fill = (data: SecretTexts) => fillSecret(api, { namespace, name: secret, desired: () => data })
      await using database = openDatabase({ url: databaseUrl, password: passwordSource(identity), poolMax: 2 })
      const id = existingId ?? (await createAccount(database, { name, email, plan })).id
      // Store the account before its key is created, so that a retry reuses the account.
      await fill({ 'account-id': id })
      const { key } = await createKey(database, { accountId: id, name: 'first', domains: [], pepper })
      await fill({ 'api-key': key })
      print({ json: { accountId: id }, text: `account ${id} on plan ${plan}; its key is in the Secret ${secret}` })
    })
  },
}
