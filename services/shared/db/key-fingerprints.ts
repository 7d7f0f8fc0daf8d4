import { createHash } from 'node:crypto'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Database, Sql } from './connection.ts'
import { confirmPepper } from './key-pepper.ts'

/** Keys that open what an installation has stored, by the setting that has them; of public keys, the text. */
type StoredKeys = Readonly<Record<string, readonly (NamedKey | string)[]>>

/** Nobody can guess a key, so its digest tells nothing. */
const fingerprintOf = (key: NamedKey | string) => {
  const [id, secret] = typeof key === 'string' ? ['', key] : [key.id, key.secret.export()]
  return createHash('sha256').update(`${id}:`).update(secret).digest()
}

/** Replaces the recorded fingerprints by those of `keys`. */
export const recordFingerprints = async (database: Sql, keys: StoredKeys): Promise<void> => {
  const rows = Object.entries(keys).flatMap(([setting, all]) =>
    all.map((key) => ({ setting, fingerprint: fingerprintOf(key) })),
  )
  await database.query(
    `with own as (select * from unnest($1::text[], $2::bytea[]) as o (setting, fingerprint)),
          gone as (delete from key_fingerprint where (setting, fingerprint) not in (select setting, fingerprint from own))
     insert into key_fingerprint (setting, fingerprint) select setting, fingerprint from own on conflict do nothing`,
    [rows.map(({ setting }) => setting), rows.map(({ fingerprint }) => fingerprint)],
  )
}

type GatewayKeys = {
  readonly keyPepper: string
  readonly recordKeys: readonly NamedKey[]
  readonly linkSigningKeys: readonly NamedKey[]
  readonly sealingKeyWebhooks: string
}

/** Confirms a gateway's pepper, see `confirmPepper`, and records fingerprints of its other keys. */
export const confirmKeys = async (database: Database, keys: GatewayKeys): Promise<void> => {
  await confirmPepper(database, keys.keyPepper, 'record')
  await recordFingerprints(database, {
    RECORD_KEYS: keys.recordKeys,
    LINK_SIGNING_KEYS: keys.linkSigningKeys,
    SEALING_KEY_WEBHOOKS: [keys.sealingKeyWebhooks],
  })
}

/** Throws `VALIDATION_ERROR` if `to` lacks a key of `from`, so that it could not open what that one has stored. */
export const assertOpens = async (from: Sql, to: Sql): Promise<void> => {
  const read = (database: Sql) =>
    database.query<{ setting: string; fingerprint: string }>(
      `select setting, encode(fingerprint, 'hex') as fingerprint from key_fingerprint order by 1`,
    )
  const [needed, held] = await Promise.all([read(from), read(to)])
  const missing = needed.filter(
    (one) => !held.some((other) => other.setting === one.setting && other.fingerprint === one.fingerprint),
  )
  if (missing.length === 0) return
  const settings = [...new Set(missing.map(({ setting }) => `SHUTTERFLEET_${setting}`))]
  throw new AppError('VALIDATION_ERROR', {
    publicMessage: `the other installation cannot open what this one has stored: it lacks keys of ${settings.join(', ')}; add them there and restart its gateways`,
  })
}
