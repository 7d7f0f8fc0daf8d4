import { createHmac } from 'node:crypto'
import { AppError } from '#shared/errors/app-error.ts'
import type { Database } from './connection.ts'

/** No API key has this form, so no stored hash of a key equals a fingerprint. */
const fingerprintLabel = 'fingerprint of the key pepper'

const refuse = (publicMessage: string): never => {
  throw new AppError('CONFIGURATION', { publicMessage })
}

/**
 * Compares the pepper with the fingerprint in the database. Stores the fingerprint if the database has no keys; if it has keys but no
 * fingerprint, which an operator removes to change the pepper, only with `record`, for the gateway, whose pepper must be right.
 * Throws `CONFIGURATION` if the pepper differs or cannot be confirmed.
 */
export const confirmPepper = async (database: Database, pepper: string, may?: 'record'): Promise<void> => {
  const own = createHmac('sha256', pepper).update(fingerprintLabel).digest()
  const recording = `
    insert into key_pepper (fingerprint) select $1 where $2 or not exists (select from api_key) on conflict do nothing`
  await database.query(recording, [own, may === 'record'])
  const [recorded] = await database.query<{ fingerprint: Buffer }>('select fingerprint from key_pepper')
  if (!recorded) {
    return refuse('the fingerprint of the pepper was removed: start the gateway first, which records that of its own')
  }
  if (recorded.fingerprint.equals(own)) return
  refuse(
    'the keys of this database are hashed with another pepper: set SHUTTERFLEET_KEY_PEPPER as its gateway had it, or name the data folder of its installation with --data',
  )
}
