import { openDatabase } from '#shared/db/connection.ts'
import { describeHeld, listHeldAccounts } from '#shared/db/held-accounts.ts'
import type { PasswordSource } from '#shared/db/password.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Check } from './check.ts'

/** Longest hold of a move that settles and copies; the alert AccountHeld has the same bound. */
const heldSecondsMax = 900

/** Fails for accounts that a move holds up for too long: its command was killed. */
export const movesCheck = ({
  databaseUrl: url,
  password,
}: {
  readonly databaseUrl: string
  readonly password?: PasswordSource | undefined
}): Check => ({
  name: 'moves',
  needs: 'postgresql',
  advice: "repeat 'bin/shutterfleet account move' if no such command runs (docs/runbooks/account-held.md)",
  run: async () => {
    await using database = openDatabase({ url, password, poolMax: 1 })
    const held = await listHeldAccounts(database)
    const words = held.map(describeHeld).join('; ')
    if (held.some(({ seconds }) => seconds > heldSecondsMax))
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: words })
    return words || 'no account is being moved'
  },
})
