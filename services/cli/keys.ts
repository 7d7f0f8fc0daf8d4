import { changeKey, createKey, listKeys, revokeKey, showKey } from '#shared/db/keys.ts'
import { type Command, dataFlag, flagText, flagTexts, requiredText } from './command/command.ts'
import { parseDuration, readDuration } from './command/duration.ts'
import { findKeyPepper } from './installation.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'

/** The fields of `KeyJson`, for the help. */
const keyFields = 'id, name, prefix, domains, scopes, expires_at, revoked_at, created_at, last_used_at'

/** `key create`: creates an API key; only its hash is stored, so it is shown only here. */
export const keyCreate: Command = {
  usage: 'key create --account ID [--name N] [--domain D]… [--scope S]… [--expires 90d] [--data DIR]',
  summary: 'creates an API key and shows it once',
  json: '{ id, prefix, key }',
  flags: {
    account: { type: 'string', value: 'ID', help: 'account that the key belongs to' },
    name: { type: 'string', value: 'N', help: 'display name of the key' },
    domain: {
      type: 'string',
      value: 'D',
      multiple: true,
      help: 'host, or *.host, to whose pages its use is restricted',
    },
    scope: {
      type: 'string',
      value: 'S',
      multiple: true,
      help: 'capture, read or manage: what the key may do (default everything)',
    },
    expires: { type: 'string', value: 'TIME', help: 'time after which the key expires, such as 90d' },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const accountId = requiredText(args, 'account')
    const name = flagText(args, 'name') ?? ''
    const domains = flagTexts(args, 'domain')
    const scopes = args.flags['scope'] === undefined ? undefined : flagTexts(args, 'scope')
    const expires = flagText(args, 'expires')
    const expiresAt = expires === undefined ? undefined : new Date(Date.now() + readDuration('expires', expires))
    const pepper = await findKeyPepper(env, args)
    const created = await withDatabase(env, args, (database) =>
      createKey(database, { accountId, name, domains, scopes, expiresAt, pepper, actor: 'command line' }),
    )
    print({ json: created, text: `key ${created.id}, shown this once: ${created.key}` })
  },
}

/** `key list`: lists the keys of an account by their prefixes; the keys are stored as hashes. */
export const keyList: Command = {
  usage: 'key list --account ID [--data DIR]',
  summary: 'lists the API keys of an account',
  json: `[{ ${keyFields} }]`,
  flags: { account: { type: 'string', value: 'ID', help: 'account whose keys to list' }, data: dataFlag },
  run: async ({ env, print }, args) => {
    const accountId = requiredText(args, 'account')
    const keys = await withDatabase(env, args, (database) => listKeys(database, accountId))
    print({
      json: keys,
      text: table([
        ['ID', 'BEGINS WITH', 'NAME', 'DOMAINS', 'SCOPES', 'EXPIRES', 'LAST USED', 'REVOKED'],
        ...keys.map((key) => [
          key.id,
          key.prefix,
          key.name,
          key.domains.join(','),
          key.scopes.join(','),
          key.expires_at ?? 'never',
          key.last_used_at ?? 'never',
          key.revoked_at ?? '',
        ]),
      ]),
    })
  },
}

/** `key show`: one key with its account, to which the id in an audit log or an activity belongs. */
export const keyShow: Command = {
  usage: 'key show KEY_ID [--data DIR]',
  summary: 'shows an API key with its account',
  json: `{ ${keyFields}, account_id }`,
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const key = await withDatabase(env, args, (database) => showKey(database, id))
    print({
      json: key,
      text: table([
        ['key', key.id],
        ['account', key.account_id],
        ['name', key.name],
        ['begins with', key.prefix],
        ['domains', key.domains.join(',') || 'any'],
        ['scopes', key.scopes.join(',')],
        ['created', key.created_at],
        ['expires', key.expires_at ?? 'never'],
        ['last used', key.last_used_at ?? 'never'],
        ['revoked', key.revoked_at ?? 'no'],
      ]),
    })
  },
}

/** `key revoke`: revokes a key on every replica immediately. */
export const keyRevoke: Command = {
  usage: 'key revoke KEY_ID [--data DIR]',
  summary: 'revokes an API key immediately',
  json: '{ id, revoked }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    await withDatabase(env, args, (database) => revokeKey(database, id, 'command line'))
    print({ json: { id, revoked: true }, text: `key ${id} is revoked` })
  },
}

/** `key set-expiry`: changes when a key expires, effective immediately. */
export const keySetExpiry: Command = {
  usage: 'key set-expiry KEY_ID TIME [--data DIR]',
  summary: 'changes when an API key expires: a time from now such as 90d, or never',
  json: '{ id, expires_at }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = '', time = ''] = args.operands
    const expiresAt = time === 'never' ? null : new Date(Date.now() + parseDuration(`TIME ${time}`, time))
    await withDatabase(env, args, (database) => changeKey(database, id, { expiresAt }, 'command line'))
    const json = { id, expires_at: expiresAt?.toISOString() ?? null }
    print({ json, text: `key ${id} ${json.expires_at === null ? 'never expires' : `expires at ${json.expires_at}`}` })
  },
}

/** `key set-domains`: replaces the hosts to whose pages a key is restricted. */
export const keySetDomains: Command = {
  usage: 'key set-domains KEY_ID [--domain D]… [--data DIR]',
  summary: 'restricts an API key to pages of these domains; without --domain it may be used anywhere',
  json: '{ id, domains }',
  flags: {
    domain: {
      type: 'string',
      value: 'D',
      multiple: true,
      help: 'host, or *.host, to whose pages its use is restricted',
    },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const domains = flagTexts(args, 'domain')
    await withDatabase(env, args, (database) => changeKey(database, id, { domains }, 'command line'))
    const text = domains.length === 0 ? 'may be used from anywhere' : `is restricted to ${domains.join(', ')}`
    print({ json: { id, domains }, text: `key ${id} ${text}` })
  },
}
