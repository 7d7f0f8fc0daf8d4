import { showAccount } from '#shared/db/accounts.ts'
import { addMember, findMembers, type MemberRow, removeMember, setRole } from '#shared/db/members.ts'
import { roles } from '#shared/db/sign-in-links.ts'
import { type Command, dataFlag, flagText, type ParsedArgs, requiredText, UsageError } from './command/command.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'

const actor = 'command line'
const accountFlag = { type: 'string', value: 'ID', help: 'account that the member belongs to' } as const
const roleFlag = { type: 'string', value: 'ROLE', help: `${roles.join(', ')}: see docs/console.md` } as const

/** A member, for the help. */
const memberShape = '{ id, email, role, subject, created_at, last_sign_in_at }'

const readRole = (text: string) => {
  const role = roles.find((each) => each === text)
  if (role) return role
  throw new UsageError(`--role ${text}: must be one of ${roles.join(', ')}`)
}

const readEmail = (args: ParsedArgs): string => {
  const email = requiredText(args, 'email')
  if (/^[^@\s]+@[^@\s]+$/.test(email) && email.length <= 320) return email
  throw new UsageError(`--email ${email}: must be an email address of at most 320 characters`)
}

const describe = ({ id, email, role }: MemberRow) => `member ${id} (${email}) is ${role}`

/** `member list`: the members of an account, oldest first. */
export const memberList: Command = {
  usage: 'member list --account ID [--data DIR]',
  summary: 'lists the people who may sign in to the console of an account',
  json: `[${memberShape}]`,
  flags: { account: { ...accountFlag, help: 'account whose members to list' }, data: dataFlag },
  run: async ({ env, print }, args) => {
    const accountId = requiredText(args, 'account')
    const members = await withDatabase(env, args, async (database) => {
      await showAccount(database, accountId)
      return await findMembers(database, { accountId })
    })
    print({
      json: members,
      text: table([
        ['ID', 'ROLE', 'EMAIL', 'LAST SIGN-IN'],
        ...members.map(({ id, role, email, last_sign_in_at: at }) => [id, role, email, at ?? 'never']),
      ]),
    })
  },
}

/** `member add`: lets a person sign in to the console of an account; no message is sent. */
export const memberAdd: Command = {
  usage: 'member add --account ID --email E [--role ROLE] [--data DIR]',
  summary: 'adds a person who may sign in to the console of an account; sends no message',
  json: memberShape,
  flags: {
    account: accountFlag,
    email: { type: 'string', value: 'E', help: 'address by which the provider knows the person' },
    role: { ...roleFlag, help: `${roles.join(', ')} (default member)` },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const accountId = requiredText(args, 'account')
    const [email, role] = [readEmail(args), readRole(flagText(args, 'role') ?? 'member')]
    const [member] = await withDatabase(env, args, async (database) => {
      const id = await addMember(database, { accountId, email, role }, actor)
      return await findMembers(database, { accountId, id })
    })
    if (member) print({ json: member, text: describe(member) })
  },
}

/** `member set-role`: changes the role of a member, at once in all of their sessions. */
export const memberSetRole: Command = {
  usage: 'member set-role MEMBER_ID ROLE --account ID [--data DIR]',
  summary: 'changes the role of a member; the last owner keeps it',
  json: memberShape,
  flags: { account: accountFlag, data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = '', name = ''] = args.operands
    const accountId = requiredText(args, 'account')
    const role = readRole(name)
    const [member] = await withDatabase(env, args, async (database) => {
      await setRole(database, { accountId, id }, role, actor)
      return await findMembers(database, { accountId, id })
    })
    if (member) print({ json: member, text: describe(member) })
  },
}

/** `member remove`: removes a member and ends their sessions and links. */
export const memberRemove: Command = {
  usage: 'member remove MEMBER_ID --account ID [--data DIR]',
  summary: 'removes a member and ends their sessions; the last owner stays',
  json: '{ id, removed }',
  flags: { account: accountFlag, data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const accountId = requiredText(args, 'account')
    await withDatabase(env, args, (database) => removeMember(database, { accountId, id }, actor))
    print({ json: { id, removed: true }, text: `member ${id} is removed` })
  },
}
