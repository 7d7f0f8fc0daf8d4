import { createOperatorLink, createSignInLink, roles, signInLinkToJson } from '#shared/db/sign-in-links.ts'
import { type Command, dataFlag, flagText, UsageError } from './command/command.ts'
import { findConsole, findKeyPepper } from './installation.ts'
import { withDatabase } from './with-database.ts'

const actor = 'command line'

/** `console`: creates a link that signs one person in to the console, of an account or as an operator, once. */
export const consoleLink: Command = {
  usage: 'console [--account ID | --operator] [--role owner|member|viewer] [--data DIR]',
  summary: 'creates a link that signs in to the console, once within 15 minutes',
  json: '{ url, expires_at }',
  flags: {
    account: { type: 'string', value: 'ID', help: 'account to sign in to (default: the first one of the data folder)' },
    operator: {
      type: 'boolean',
      help: 'sign in as an operator of the installation; with --role viewer one who only reads',
    },
    role: { type: 'string', value: 'ROLE', help: `${roles.join(', ')} (default ${roles[0]}); a viewer only reads` },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const roleName = flagText(args, 'role') ?? roles[0]
    const role = roles.find((each) => each === roleName)
    if (!role) throw new UsageError(`--role ${roleName}: must be one of ${roles.join(', ')}`)
    const isOperator = args.flags['operator'] === true
    if (isOperator && flagText(args, 'account') !== undefined)
      throw new UsageError('--operator and --account exclude each other: an operator belongs to no account')
    const { baseUrl, accountId } = await findConsole(env, args)
    const pepper = await findKeyPepper(env, args)
    const link = await withDatabase(env, args, (database) =>
      isOperator
        ? createOperatorLink(database, { role: role === 'viewer' ? 'operator_read_only' : 'operator', pepper, actor })
        : createSignInLink(database, { accountId, role, pepper, actor }),
    )
    const json = signInLinkToJson(baseUrl, link)
    const as = isOperator ? `operator${role === 'viewer' ? ', read-only' : ''}` : role
    print({ json, text: `${json.url}\nsigns one person in as ${as}, once, until ${json.expires_at}` })
  },
}
