import { openDatabase } from '#shared/db/connection.ts'
import type { PasswordSource } from '#shared/db/password.ts'
import { describePause, listPauses } from '#shared/db/pool-pauses.ts'
import type { Check } from './check.ts'

/** Names the pools that an operator has paused, in which captures wait. A pause is no failure. */
export const pausesCheck = ({
  databaseUrl: url,
  password,
}: {
  readonly databaseUrl: string
  readonly password?: PasswordSource | undefined
}): Check => ({
  name: 'pauses',
  needs: 'postgresql',
  advice: "see 'bin/shutterfleet pool list'",
  run: async () => {
    await using database = openDatabase({ url, password, poolMax: 1 })
    const pauses = await listPauses(database)
    if (pauses.length === 0) return 'no pool is paused'
    const words = pauses.map((pause) => `${pause.pool} is ${describePause(pause)}`)
    return `${words.join('; ')}; 'bin/shutterfleet pool resume POOL' ends a pause`
  },
})
