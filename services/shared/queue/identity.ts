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
import type { IdentityReports } from '#shared/telemetry/identity-events.ts'

/** How a process identifies itself, if not by the user of the address. */
export type QueueIdentity = SettingValues<typeof queueIdentitySettings>

const refuse = (publicMessage: string): never => {
  throw new AppError('CONFIGURATION', { publicMessage })
}

/** When the JWT of credentials ends, in milliseconds of the wall clock; undefined: never. Only the server verifies it. */
const endsAtMs = (jwt: string): number | undefined => {
  const claims = Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()
  // The parser's error would contain a part of it.
  const seconds = /"exp":\s*(\d+)/.exec(claims)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

type IdentityFile = {
  readonly path: string
  readonly setting: string
  readonly authenticatorOf: (content: string) => Authenticator
}

/**
 * Reads the file for each connection. Throws if it cannot be used at first; later the one before is used instead, because the
 * client would end rather than try again.
 */
const rereading = ({ path, setting, authenticatorOf }: IdentityFile, reports?: IdentityReports): Authenticator => {
  const load = () => {
    const authenticator = authenticatorOf(readFileSync(path, 'utf8').trim())
    const tried = authenticator('a nonce')
    const untilMs = tried && 'jwt' in tried ? endsAtMs(tried.jwt) : undefined
    if (untilMs !== undefined && untilMs <= Date.now()) reports?.failed(setting, new Error(`${path} has expired`))
    else reports?.renewed(untilMs)
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
    } catch (cause) {
      // The server refuses the one before if it has expired; then the next connection reads the file again.
      reports?.failed(setting, cause)
    }
    return latest(nonce)
  }
}

const byNkey = (seed: string) => nkeyAuthenticator(Buffer.from(seed))
/** The client expects a line break at the end. */
const byCredentials = (text: string) => credsAuthenticator(Buffer.from(`${text}\n`))

/**
 * The client's options for an identity. Each connection reads the files anew, and a refused one is retried: the file may have
 * changed by then. Throws `CONFIGURATION` if the settings contradict each other, else an error that names the file.
 */
export const identifyBy = (
  identity: QueueIdentity | undefined,
  reports?: IdentityReports,
): Partial<ConnectionOptions> & { readonly authenticator?: Authenticator } => {
  if (identity === undefined) return {}
  const {
    natsCredentialsFile,
    natsNkeyFile,
    natsCertificateFile: certFile,
    natsKeyFile: keyFile,
    natsCaFile: caFile,
  } = identity
  if (natsCredentialsFile !== '' && natsNkeyFile !== '')
    refuse('SHUTTERFLEET_NATS_CREDENTIALS_FILE and SHUTTERFLEET_NATS_NKEY_FILE are both set; set one of them')
  if ((certFile === '') !== (keyFile === ''))
    refuse('SHUTTERFLEET_NATS_CERTIFICATE_FILE and SHUTTERFLEET_NATS_KEY_FILE must be set together')
  const file = natsCredentialsFile
    ? { path: natsCredentialsFile, setting: 'SHUTTERFLEET_NATS_CREDENTIALS_FILE', authenticatorOf: byCredentials }
    : { path: natsNkeyFile, setting: 'SHUTTERFLEET_NATS_NKEY_FILE', authenticatorOf: byNkey }
  return {
    ...(file.path !== '' && { authenticator: rereading(file, reports) }),
    ...((certFile || caFile) && {
      tls: { ...(certFile && { certFile, keyFile }), ...(caFile && { caFile }) },
    }),
    ...([natsCredentialsFile, natsNkeyFile, certFile].some(Boolean) && { ignoreAuthErrorAbort: true }),
  }
}
