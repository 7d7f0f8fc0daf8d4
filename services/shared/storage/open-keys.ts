import type { SettingValues } from '#shared/config/read-env.ts'
import type { s3KeySettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { IdentityReports } from '#shared/telemetry/identity-events.ts'
import { keysByWebIdentity, keysInFile, keysOfContainer, keysOfInstance } from './key-sources.ts'
import { fixedKeys, type KeyRing, type KeySource, RenewedKeys, type S3Keys } from './s3-keys.ts'

/** How a process identifies itself to an S3-compatible store. */
export type KeySettings = SettingValues<typeof s3KeySettings>

/** The settings of a store whose address contains its keys. */
export const keysOfAddress: KeySettings = {
  s3KeysFrom: 'url',
  s3KeysFile: '',
  s3TokenFile: '',
  s3RoleArn: '',
  s3KeysUrl: undefined,
}

/** A changed file is in use this long after it was written, at most. */
const fileRecheckMs = 1000

const refuse = (publicMessage: string): never => {
  throw new AppError('CONFIGURATION', { publicMessage })
}

/** A secret is sent only over TLS, or to an address of the machine or the node itself. */
const isNear = (url: string) => {
  const { protocol, hostname } = new URL(url)
  return (
    protocol === 'https:' ||
    /^(localhost|127\.0\.0\.1|169\.254\.\d+\.\d+|\[(::1|fd00:ec2::23|fd00:ec2::254)\])$/.test(hostname)
  )
}

const sourceOf = (settings: KeySettings, region: string): KeySource => {
  const { s3KeysFrom, s3KeysUrl } = settings
  const need = (value: string, variable: string) =>
    value || refuse(`SHUTTERFLEET_${variable} is not set; SHUTTERFLEET_S3_KEYS_FROM=${s3KeysFrom} needs it`)
  const near = (fallback: string) => {
    const url = s3KeysUrl ?? fallback
    return isNear(url)
      ? url
      : refuse(`SHUTTERFLEET_S3_KEYS_URL = ${url}, must begin with https://, or have a loopback or link-local address`)
  }
  if (s3KeysFrom === 'file') return keysInFile(need(settings.s3KeysFile, 'S3_KEYS_FILE'))
  if (s3KeysFrom === 'instance') return keysOfInstance(near('http://169.254.169.254'))
  if (s3KeysFrom === 'container') {
    return keysOfContainer({
      url: near('http://169.254.170.23/v1/credentials'),
      tokenFile: settings.s3TokenFile || undefined,
    })
  }
  return keysByWebIdentity({
    stsUrl: near(`https://sts.${region}.amazonaws.com`),
    roleArn: need(settings.s3RoleArn, 'S3_ROLE_ARN'),
    tokenFile: need(settings.s3TokenFile, 'S3_TOKEN_FILE'),
  })
}

/**
 * The keys that the settings name; `inAddress` are those of the store's address. Requests none yet. Throws `CONFIGURATION` naming
 * the setting that is missing, or if the keys are in the address although the settings name another source, or the reverse.
 */
export const openKeys = (
  settings: KeySettings,
  region: string,
  inAddress: S3Keys | undefined,
  reports?: IdentityReports,
): KeyRing => {
  const { s3KeysFrom } = settings
  if (s3KeysFrom === 'url') {
    return fixedKeys(
      inAddress ??
        refuse(
          'SHUTTERFLEET_S3_URL must have the form https://KEY:SECRET@host:port/bucket?region=us-east-1, or SHUTTERFLEET_S3_KEYS_FROM another value than url',
        ),
    )
  }
  if (inAddress)
    refuse(`SHUTTERFLEET_S3_URL contains keys, but SHUTTERFLEET_S3_KEYS_FROM is ${s3KeysFrom}; remove them`)
  const recheckMs = s3KeysFrom === 'file' ? fileRecheckMs : undefined
  const failed = (cause: unknown) => reports?.failed('SHUTTERFLEET_S3_KEYS_FROM', cause)
  return new RenewedKeys({ source: sourceOf(settings, region), recheckMs, renewed: reports?.renewed, failed })
}
