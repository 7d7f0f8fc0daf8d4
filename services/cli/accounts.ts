import { accountToJson, createAccount, listAccounts, setPlan } from '#shared/db/accounts.ts'
import { type Command, dataFlag, requiredText } from './command/command.ts'
import { table } from './command/table.ts'
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
  run: async ({ env, print }, args) => {
    const newAccount = {
      name: requiredText(args, 'name'),
      email: requiredText(args, 'email'),
      plan: requiredText(args, 'plan'),
    }
    const { id, name, email, plan } = await withDatabase(env, args, (database) =>
      createAccount(database, newAccount, 'command line'),
    )
    print({ json: { id, name, email, plan }, text: `account ${id} (${name}, ${email}) is on plan ${plan}` })
  },
}

/** `account list`: lists all accounts, oldest first. */
export const accountList: Command = {
  usage: 'account list [--data DIR]',
  summary: 'lists all accounts',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const accounts = await withDatabase(env, args, (database) => listAccounts(database))
    print({
      json: accounts.map(accountToJson),
      text: table([
        ['ID', 'PLAN', 'NAME', 'EMAIL'],
        ...accounts.map(({ id, plan, name, email }) => [id, plan, name, email]),
      ]),
    })
  },
}

/** `account set-plan`: changes the plan of an account immediately. */
export const accountSetPlan: Command = {
  usage: 'account set-plan ID SLUG [--data DIR]',
  summary: 'puts an account on another plan',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = '', plan = ''] = args.operands
    await withDatabase(env, args, (database) => setPlan(database, id, plan, 'command line'))
    print({ json: { id, plan }, text: `account ${id} is on plan ${plan}` })
  },
}
