import { revokeKey } from '#shared/db/keys.ts'
import { type Command, dataFlag } from './command.ts'
import { withDatabase } from './with-database.ts'

/** `key revoke`: revokes a key on every replica immediately. */
export const keyRevoke: Command = {
  usage: 'key revoke KEY_ID [--data DIR]',
  summary: 'revokes an API key immediately',
  flags: { data: dataFlag },
  run: async ({ env, print }, typed) => {
    const [id = ''] = typed.operands
    await withDatabase(env, typed, (database) => revokeKey(database, id, 'command line'))
    print({ json: { id, revoked: true }, text: `key ${id} is revoked` })
  },
}
