import { type Command, dataFlag } from './command/command.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'
import { cancelPending, countQueue } from '#shared/db/account-queue.ts'
import { recountMeters } from '#shared/db/recount-meters.ts'

/** `queue list`: captures that have not ended, by account, largest count first. */
export const queueList: Command = {
  usage: 'queue list [--data DIR]',
  summary: 'lists the accounts with captures that have not ended, largest queue first',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const queues = await withDatabase(env, args, (database) => countQueue(database))
    print({
      json: queues.map(({ accountId, ...counts }) => ({ account_id: accountId, ...counts })),
      text: table([
        ['ACCOUNT', 'PENDING', 'PROCESSING', 'NAME'],
        ...queues.map(({ accountId, name, pending, processing }) => [
          accountId,
          String(pending),
          String(processing),
          name,
        ]),
      ]),
    })
  },
}

/** `queue cancel`: fails the captures of an account that have not begun, without charge. */
export const queueCancel: Command = {
  usage: 'queue cancel ACCOUNT_ID [--data DIR]',
  summary: 'cancels the captures of an account that have not begun, without charge',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const canceled = await withDatabase(env, args, (database) => cancelPending(database, id, 'command line'))
    print({ json: { canceled }, text: `${canceled} captures of account ${id} are canceled` })
  },
}

/** `queue recount`: corrects the meters of an account by its captures. */
export const queueRecount: Command = {
  usage: 'queue recount ACCOUNT_ID [--data DIR]',
  summary: 'corrects the meters of an account that differ from its captures',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const [id = ''] = args.operands
    const corrected = await withDatabase(env, args, (database) => recountMeters(database, id, 'command line'))
    const lines = corrected.map(({ meter, part, counted, actual }) => `${meter} of ${part}: ${counted}, now ${actual}`)
    print({ json: { corrected }, text: lines.join('\n') || `all meters of account ${id} are correct` })
  },
}
