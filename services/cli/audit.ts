import { type Command, dataFlag, flagCount, flagText } from './command/command.ts'
import { table } from './command/table.ts'
import { withDatabase } from './with-database.ts'
import { listChanges } from '#shared/db/audit.ts'

/** `audit list`: who changed what, latest first. */
export const auditList: Command = {
  usage: 'audit list [--limit N] [--after ID] [--data DIR]',
  summary: 'lists who changed what, latest first',
  json: '[{ id, at, actor, action, target, detail }]',
  flags: {
    limit: { type: 'string', value: 'N', help: 'how many changes (default 100, at most 1000)' },
    after: { type: 'string', value: 'ID', help: 'only changes before this one, such as the last of the list before' },
    data: dataFlag,
  },
  run: async ({ env, print }, args) => {
    const limit = flagCount(args, 'limit', { min: 1, max: 1000, fallback: 100 })
    const before = flagText(args, 'after')
    const changes = await withDatabase(env, args, (database) => listChanges(database, { limit, before }))
    print({
      json: changes,
      text: table([
        ['AT', 'ACTOR', 'ACTION', 'TARGET', 'DETAIL', 'ID'],
        ...changes.map(({ at, actor, action, target, detail, id }) => [
          at,
          actor,
          action,
          target,
          Object.keys(detail).length === 0 ? '' : JSON.stringify(detail),
          id,
        ]),
      ]),
    })
  },
}
