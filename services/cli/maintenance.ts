import { type Command, dataFlag } from './command/command.ts'
import { withDatabase } from './with-database.ts'
import { readMaintenance, setMaintenance } from '#shared/db/maintenance.ts'

const maintenance = (name: 'show' | 'on' | 'off', summary: string): Command => ({
  usage: `maintenance ${name} [--data DIR]`,
  summary,
  json: '{ on, since }',
  flags: { data: dataFlag },
  run: async ({ env, print }, args) => {
    const since = await withDatabase(env, args, async (database) => {
      if (name !== 'show') await setMaintenance(database, name === 'on', 'command line')
      return readMaintenance(database)
    })
    const text = since === null ? 'maintenance is off' : `maintenance is on since ${since}: no captures are accepted`
    print({ json: { on: since !== null, since }, text })
  },
})

/** `maintenance show`: whether maintenance is on. */
export const maintenanceShow = maintenance('show', 'shows whether maintenance is on')

/** `maintenance on`: operations that accept captures return 503 within about a second. */
export const maintenanceOn = maintenance(
  'on',
  'accepts no captures until maintenance is off; everything else continues',
)

/** `maintenance off`: captures are accepted again within about a second. */
export const maintenanceOff = maintenance('off', 'accepts captures again')
