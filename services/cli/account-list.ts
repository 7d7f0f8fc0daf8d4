import { listAccounts } from '#shared/db/accounts.ts'
import { type Command, dataFlag } from './command.ts'
import { table } from './table.ts'
import { withDatabase } from './with-database.ts'

/** `account list`: lists all accounts, oldest first. */
export const accountList: Command = {
  usage: 'account list [--data DIR]',
  summary: 'lists all accounts',
  flags: { data: dataFlag },
  run: async ({ env, print }, typed) => {
    const accounts = await withDatabase(env, typed, (database) => listAccounts(database))
    print({
      json: accounts.map(({ createdAt, disabledAt, ...account }) => ({
        ...account,
        created_at: createdAt,
        disabled_at: disabledAt,
      })),
      text: table([
        ['ID', 'PLAN', 'NAME', 'EMAIL'],
        ...accounts.map(({ id, plan, name, email }) => [id, plan, name, email]),
      ]),
    })
  },
}
