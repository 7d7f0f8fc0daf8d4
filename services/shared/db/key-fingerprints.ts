import { createHash } from 'node:crypto'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Database, Sql } from './connection.ts'
import { confirmPepper } from './key-pepper.ts'

/** Keys that open what an installation has stored, by the setting that has them. */
type StoredKeys = Readonly<Record<string, readonly (NamedKey | string)[]>>

/** Nobody can guess a key, so its digest tells nothing. */
const fingerprintOf = (key: NamedKey | string) => {
  const [id, secret] = typeof key === 'string' ? ['', key] : [key.id, key.secret.export()]
  return createHash('sha256').update(`${id}:`).update(secret).digest()
}

/** Replaces the recorded fingerprints of the settings in `keys`. */
export const recordFingerprints = async (database: Sql, keys: StoredKeys): Promise<void> => {
  const rows = Object.entries(keys).flatMap(([setting, all]) =>
    all.map((key) => ({ setting, fingerprint: fingerprintOf(key) })),
  )
  await database.query(
    `with own as (select * from unnest($1::text[], $2::bytea[]) as o (setting, fingerprint)),
          gone as (delete from key_fingerprint f where f.setting in (select o.setting from own o)
                     and (f.setting, f.fingerprint) not in (select o.setting, o.fingerprint from own o))
     insert into key_fingerprint (setting, fingerprint) select setting, fingerprint from own order by 1, 2 on conflict do nothing`,
    [rows.map(({ setting }) => setting), rows.map(({ fingerprint }) => fingerprint)],
  )
}

type GatewayKeys = {
  readonly keyPepper: string
  readonly recordKeys: readonly NamedKey[]
  readonly linkSigningKeys: readonly NamedKey[]
}

/** Confirms a gateway's pepper, see `confirmPepper`, and records fingerprints of its other keys. */
export const confirmKeys = async (database: Database, keys: GatewayKeys): Promise<void> => {
  await confirmPepper(database, keys.keyPepper, 'record')
  await recordFingerprints(database, { RECORD_KEYS: keys.recordKeys, LINK_SIGNING_KEYS: keys.linkSigningKeys })
}

const refuse = (publicMessage: string): never => {
  throw new AppError('VALIDATION_ERROR', { publicMessage })
}

/** Throws `VALIDATION_ERROR` if `to` lacks a key of `from`, so that it could not open what that one has stored. */
export const assertOpens = async (from: Sql, to: Sql): Promise<void> => {
  const read = (database: Sql) =>
    database.query<{ setting: string; fingerprint: string }>(
      `select setting, encode(fingerprint, 'hex') as fingerprint from key_fingerprint order by 1`,
    )
  const [needed, held] = await Promise.all([read(from), read(to)])
  if (needed.length === 0)
    refuse('start the gateways and webhook senders of this release first: they record which keys they have')
  const missing = needed.filter(
    (one) => !held.some((other) => other.setting === one.setting && other.fingerprint === one.fingerprint),
  )
  if (missing.length === 0) return
  const settings = [...new Set(missing.map(({ setting }) => `SHUTTERFLEET_${setting}`))]
  refuse(
    `the other installation cannot open what this one has stored: it lacks keys of ${settings.join(', ')}; add them there and restart its services`,
  )
}
