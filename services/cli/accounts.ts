import {
  type AccountJson,
  createAccount,
  listAccounts,
  orderErasure,
  setDisabled,
  setPlan,
  showAccount,
} from '#shared/db/accounts.ts'
import { releaseAccount } from '#shared/db/move-account.ts'
import { targetStoreIn } from '#shared/db/account-targets.ts'
import { entryForms, type TargetTexts } from '#shared/policy/target-lists.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagTexts,
  type ParsedArgs,
  requiredText,
  yesFlag,
} from './command/command.ts'
import { confirm } from './command/confirm.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'

/** `AccountJson`, for the help. */
const accountShape = '{ id, name, email, plan, created_at, disabled_at, erasing_at, moving_at }'

/** `account create`: creates an account on an existing plan. */
export const accountCreate: Command = {
  usage: 'account create --name N --email E --plan SLUG [--data DIR]',
  summary: 'creates an account',
  json: '{ id, name, email, plan }',
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
  json: `[${accountShape}]`,
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const accounts = await withDatabase(env, args, (database) => listAccounts(database))
    print({
      json: accounts,
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
  json: '{ id, plan }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = '', plan = ''] = args.operands
    await withDatabase(env, args, (database) => setPlan(database, id, plan, 'command line'))
    print({ json: { id, plan }, text: `account ${id} is on plan ${plan}` })
  },
}

const state = ({ disabled_at: disabledAt, erasing_at: erasingAt, moving_at: movingAt }: AccountJson): string => {
  if (erasingAt !== null) return `being erased since ${erasingAt}${movingAt === null ? '' : ', after it was moved'}`
  if (movingAt !== null) return `being moved since ${movingAt}`
  return disabledAt === null ? 'enabled' : `disabled since ${disabledAt}`
}

/** `account show`: one account with its state. */
export const accountShow: Command = {
  usage: 'account show ID [--data DIR]',
  summary: 'shows an account',
  json: accountShape,
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const account = await withDatabase(env, args, (database) => showAccount(database, id))
    print({
      json: account,
      text: table([
        ['account', account.id],
        ['name', account.name],
        ['email', account.email],
        ['plan', account.plan],
        ['created', account.created_at],
        ['state', state(account)],
      ]),
    })
  },
}

const setState = async ({ env, print }: CommandContext, args: ParsedArgs, name: 'disable' | 'enable') => {
  const [id = ''] = args.operands
  const account = await withDatabase(env, args, async (database) => {
    const isForced = args.flags['force'] === true
    if (name === 'enable') await releaseAccount(database, { id, isForced }, 'command line')
    await setDisabled(database, id, name === 'disable', 'command line')
    return showAccount(database, id)
  })
  print({ json: account, text: `account ${id} is ${state(account)}` })
}

/** `account disable`: makes its keys invalid immediately. */
export const accountDisable: Command = {
  usage: 'account disable ID [--data DIR]',
  summary: 'makes the keys of an account invalid; its captures continue',
  json: accountShape,
  flags: { data: dataFlag },
  run: (context, args) => setState(context, args, 'disable'),
}

/** `account enable`: undoes `account disable`, and the hold of an `account move` that was killed before the account was leaving. */
export const accountEnable: Command = {
  usage: 'account enable ID [--force] [--data DIR]',
  summary: 'makes the keys of a disabled account valid again, or ends the hold of a move that was killed',
  json: accountShape,
  flags: {
    force: { type: 'boolean', help: 'also if the account is leaving for another cell, which must be lost for ever' },
    data: dataFlag,
  },
  run: (context, args) => setState(context, args, 'enable'),
}

const listOf = (args: ParsedArgs, name: 'allow' | 'deny'): Partial<TargetTexts> => {
  const given = flagTexts(args, name)
  if (given.length === 0) return {}
  return { [name]: given.flatMap((text) => text.split(/[\s,]+/)).filter((entry) => entry !== '') }
}

/** `account targets`: shows which targets the captures of an account may reach, or replaces one or both lists. */
export const accountTargets: Command = {
  usage: 'account targets ID [--allow T]… [--deny T]… [--data DIR]',
  summary: 'shows or replaces the targets that the captures of an account may and may not reach',
  json: '{ id, allow, deny }',
  flags: {
    allow: { type: 'string', multiple: true, value: 'T', help: `the only targets, each ${entryForms}; '' allows all` },
    deny: {
      type: 'string',
      multiple: true,
      value: 'T',
      help: "targets that are refused, as in --allow; '' refuses none",
    },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const lists = { ...listOf(args, 'allow'), ...listOf(args, 'deny') }
    const targets = await withDatabase(env, args, (database) => {
      const store = targetStoreIn(database)
      return Object.keys(lists).length === 0 ? store.read(id) : store.replace(id, lists, 'command line')
    })
    print({
      json: { id, ...targets },
      text: table([
        ['allow', targets.allow.join(' ') || 'all that are not refused otherwise'],
        ['deny', targets.deny.join(' ') || 'none'],
      ]),
    })
  },
}

/** `account erase`: orders the erasure of an account, after a confirmation; the ledger carries it out. */
export const accountErase: Command = {
  usage: 'account erase ID [--yes] [--data DIR]',
  summary: 'erases an account with its keys, captures and images',
  json: accountShape,
  flags: { yes: yesFlag, data: dataFlag },
  run: async (context, args) => {
    const [id = ''] = args.operands
    const account = await withDatabase(context.env, args, async (database) => {
      const { name, email } = await showAccount(database, id)
      const effect = `erases account ${id} (${name}, ${email}) with its keys, captures and images for good`
      await confirm(context, args, { effect, name: name || id })
      return orderErasure(database, id, 'command line')
    })
    context.print({ json: account, text: `account ${id} is ${state(account)}` })
  },
}
