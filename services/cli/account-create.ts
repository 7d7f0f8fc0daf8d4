import { createAccount } from '#shared/db/accounts.ts'
import { type Command, dataFlag, requiredText } from './command.ts'
import { withDatabase } from './with-database.ts'

/** `account create`: creates an account on an existing plan. */
export const accountCreate: Command = {
  usage: 'account create --name N --email E --plan SLUG [--data DIR]',
  summary: 'creates an account',
  flags: {
    name: { type: 'string', value: 'N', help: 'name of the account' },
    email: { type: 'string', value: 'E', help: 'email address of its owner' },
    plan: { type: 'string', value: 'SLUG', help: 'plan, such as free or unlimited' },
    data: dataFlag,
  },
  run: async ({ env, print }, typed) => {
    const wanted = {
      name: requiredText(typed, 'name'),
      email: requiredText(typed, 'email'),
      plan: requiredText(typed, 'plan'),
    }
    const { id, name, email, plan } = await withDatabase(env, typed, (database) =>
      createAccount(database, wanted, 'command line'),
    )
    print({ json: { id, name, email, plan }, text: `account ${id} (${name}, ${email}) is on plan ${plan}` })
  },
}
