import { setPlan } from '#shared/db/accounts.ts'
import { type Command, dataFlag } from './command.ts'
import { withDatabase } from './with-database.ts'

/** `account set-plan`: changes the plan of an account immediately. */
export const accountSetPlan: Command = {
  usage: 'account set-plan ID SLUG [--data DIR]',
  summary: 'puts an account on another plan',
  flags: { data: dataFlag },
  run: async ({ env, print }, typed) => {
    const [id = '', plan = ''] = typed.operands
    await withDatabase(env, typed, (database) => setPlan(database, id, plan, 'command line'))
    print({ json: { id, plan }, text: `account ${id} is on plan ${plan}` })
  },
}
