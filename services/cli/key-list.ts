import { keyToJson, listKeys } from '#shared/db/keys.ts'
import { type Command, dataFlag, requiredText } from './command.ts'
import { table } from './table.ts'
import { withDatabase } from './with-database.ts'

/** `key list`: lists the keys of an account by their prefixes; the keys are stored as hashes. */
export const keyList: Command = {
  usage: 'key list --account ID [--data DIR]',
  summary: 'lists the API keys of an account',
  flags: { account: { type: 'string', value: 'ID', help: 'account whose keys to list' }, data: dataFlag },
  run: async ({ env, print }, typed) => {
    const accountId = requiredText(typed, 'account')
    const keys = await withDatabase(env, typed, (database) => listKeys(database, accountId))
    print({
      json: keys.map(keyToJson),
      text: table([
        ['ID', 'BEGINS WITH', 'NAME', 'DOMAINS', 'EXPIRES', 'REVOKED'],
        ...keys.map(({ id, prefix, name, domains, expiresAt, revokedAt }) => [
          id,
          prefix,
          name,
          domains.join(','),
          expiresAt ?? 'never',
          revokedAt ?? '',
        ]),
      ]),
    })
  },
}
