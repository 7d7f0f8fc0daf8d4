import type { Actor } from '#shared/db/audit.ts'
import type { Database } from '#shared/db/connection.ts'
import { createLinkSecretDerivation, ensureLinkSecret, rotateLinkSecret } from '#shared/db/link-secrets.ts'

/** The link secrets of keys, for their accounts. */
export type LinkSecrets = ReturnType<typeof linkSecretsIn>

type KeyRef = { readonly keyId: string; readonly accountId: string; readonly actor: Actor }

/** `pepper`: API keys are hashed with it. */
export const linkSecretsIn = (database: Database, pepper: string) => {
  const derive = createLinkSecretDerivation(pepper)
  return {
    derive,
    /** The secret of a key, for links that the gateway signs. Created if the key has none. Throws `NOT_FOUND`. */
    secretOf: async (key: KeyRef): Promise<string> => derive(key.keyId, await ensureLinkSecret(database, key)),
    /** Replaces the secret of a key and returns it, the only time that it is shown. Throws `NOT_FOUND`. */
    rotate: async (key: KeyRef & { readonly previousSeconds: number }) => {
      const { nonce, createdAt, previousExpiresAt } = await rotateLinkSecret(database, key)
      return { secret: derive(key.keyId, nonce), createdAt, previousExpiresAt }
    },
  }
}
