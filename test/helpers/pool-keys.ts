import { type Pool, pools } from '#shared/capture/lane.ts'
import {
  generateSealingKeys,
  type OpeningKey,
  readOpeningKey,
  readSealingKey,
  type SealingKey,
} from '#shared/queue/seal.ts'

/** A key pair for each pool. */
export type PoolKeys = Readonly<Record<Pool, { readonly public: string; readonly private: string }>>

const ofEach = <T>(make: (pool: Pool) => T) =>
  Object.fromEntries(pools.map((pool) => [pool, make(pool)])) as Readonly<Record<Pool, T>>

export const poolKeys = (): PoolKeys => ofEach(generateSealingKeys)

export const openingKeysOf = (keys: PoolKeys): Readonly<Record<Pool, OpeningKey>> =>
  ofEach((pool) => readOpeningKey(keys[pool].private))

export const sealingKeysOf = (keys: PoolKeys): Readonly<Record<Pool, SealingKey>> =>
  ofEach((pool) => readSealingKey(keys[pool].public))
