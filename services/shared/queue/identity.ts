import { readFileSync } from 'node:fs'
import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
} from '@nats-io/transport-node'
import type { SettingValues } from '#shared/config/read-env.ts'
import type { queueIdentitySettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'

/** How a process identifies itself, if not by the user of the address. */
export type QueueIdentity = SettingValues<typeof queueIdentitySettings>

const refuse = (publicMessage: string): never => {
  throw new AppError('CONFIGURATION', { publicMessage })
}

/**
 * Reads the file for each connection. Throws if it cannot be used at first; later the one before is used instead, because the
 * client would end rather than try again.
 */
const rereading = (path: string, authenticatorOf: (content: Uint8Array) => Authenticator): Authenticator => {
  const load = () => {
    const authenticator = authenticatorOf(Buffer.from(readFileSync(path, 'utf8').trim()))
    authenticator('a nonce')
    return authenticator
  }
  const start = (): Authenticator => {
    try {
      return load()
    } catch (cause) {
      throw new Error(`${path} cannot be used: ${String(cause)}`, { cause })
    }
  }
  let latest = start()
  return (nonce) => {
    try {
      latest = load()
    } catch {
      // The server refuses the one before if it has expired; then the next connection reads the file again.
    }
    return latest(nonce)
  }
}

/**
 * The client's options for an identity. Each connection reads the files anew, and a refused one is retried: the file may have
 * changed by then. Throws `CONFIGURATION` if the settings contradict each other, else an error that names the file.
 */
export const identifyBy = (identity: QueueIdentity | undefined): Partial<ConnectionOptions> => {
  if (identity === undefined) return {}
  const { natsCredentialsFile, natsNkeyFile, natsCertificateFile: certFile, natsKeyFile: keyFile } = identity
  if (natsCredentialsFile !== '' && natsNkeyFile !== '')
    refuse('SHUTTERFLEET_NATS_CREDENTIALS_FILE and SHUTTERFLEET_NATS_NKEY_FILE are both set; set one of them')
  if ((certFile === '') !== (keyFile === ''))
    refuse('SHUTTERFLEET_NATS_CERTIFICATE_FILE and SHUTTERFLEET_NATS_KEY_FILE must be set together')
  return {
    ...(natsCredentialsFile !== '' && { authenticator: rereading(natsCredentialsFile, credsAuthenticator) }),
    ...(natsNkeyFile !== '' && { authenticator: rereading(natsNkeyFile, nkeyAuthenticator) }),
    ...(certFile !== '' && { tls: { certFile, keyFile } }),
    ...([natsCredentialsFile, natsNkeyFile, certFile].some(Boolean) && { ignoreAuthErrorAbort: true }),
  }
}
