import { createSecretKey } from 'node:crypto'
import type { NamedKey } from '#shared/config/settings/named-keys.ts'

/** A key of 32 equal bytes. */
export const namedKey = (id: string, byte: number): NamedKey => ({
  id,
  secret: createSecretKey(Buffer.alloc(32, byte)),
})
