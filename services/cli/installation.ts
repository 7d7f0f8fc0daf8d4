import { resolve } from 'node:path'
import { dataPaths, readPrivate } from '#local/data-folder.ts'
import { type LocalFile, readLocalFile } from '#local/local-file.ts'
import { chooseDirectUrl, optionalPepper } from '#local/local-settings.ts'
import type { Secrets } from '#local/secrets.ts'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { gatewaySettings } from '#shared/config/settings/gateway.ts'
import { clientSettings, localSettings } from '#shared/config/settings/local.ts'
import { databaseSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { flagText, type ParsedArgs } from './command/command.ts'

const settings = {
  ...clientSettings,
  data: localSettings.data,
  externalDatabaseUrl: localSettings.externalDatabaseUrl,
  databaseDirectUrl: databaseSettings.databaseDirectUrl,
}

/** Absolute path of the data folder: from `--data`, else the environment, else the default. */
export const findDataFolder = (env: Env, args: ParsedArgs): string =>
  resolve(flagText(args, 'data') ?? readEnv({ data: settings.data }, env).data)

/** The error if no installation is running in the data folder; `otherwise` is an alternative to `up` and `--data`. */
export const notRunning = (reason: string, otherwise = ''): AppError =>
  new AppError('SERVICE_UNAVAILABLE', {
    publicMessage: `${reason}: start it with 'bin/shutterfleet up' or name its folder with --data${otherwise}`,
  })

/** Reads the file that `up` writes. Throws `SERVICE_UNAVAILABLE` if none is running; `otherwise` as for `notRunning`. */
export const runningInstallation = async (folder: string, otherwise: string): Promise<LocalFile> => {
  const local = await readLocalFile(dataPaths(folder).localFile)
  if (local) return local
  throw notRunning(`no installation is running in ${folder}`, otherwise)
}

/** Base URL and API key: from the environment, else of the running installation. */
export const findInterface = async (env: Env, args: ParsedArgs): Promise<{ baseUrl: string; apiKey: string }> => {
  const { baseUrl, apiKey } = readEnv(settings, env)
  if (baseUrl !== undefined && apiKey !== '') return { baseUrl, apiKey }
  const local = await runningInstallation(
    findDataFolder(env, args),
    ', or set SHUTTERFLEET_BASE_URL and SHUTTERFLEET_API_KEY',
  )
  return { baseUrl: baseUrl ?? local.base_url, apiKey: apiKey || local.api_key }
}

/** Base URL of the gateway: from the environment, else of the running installation. */
export const findBaseUrl = async (env: Env, args: ParsedArgs): Promise<string> => {
  const { baseUrl } = readEnv(settings, env)
  if (baseUrl !== undefined) return baseUrl
  return (await runningInstallation(findDataFolder(env, args), ', or set SHUTTERFLEET_BASE_URL')).base_url
}

/**
 * Address of the gateway for people, and the account whose console to open, which operators need not name: of the flag and the
 * environment, else of the running installation.
 */
export const findConsole = async (env: Env, args: ParsedArgs): Promise<{ baseUrl: string; accountId: string }> => {
  const { publicUrl } = readEnv({ publicUrl: gatewaySettings.publicUrl }, env)
  const accountId = flagText(args, 'account')
  const isComplete = accountId !== undefined || args.flags['operator'] === true
  if (publicUrl !== undefined && isComplete) return { baseUrl: publicUrl, accountId: accountId ?? '' }
  const local = await runningInstallation(findDataFolder(env, args), ', or set SHUTTERFLEET_PUBLIC_URL and --account')
  return { baseUrl: publicUrl ?? local.public_url, accountId: accountId ?? local.account_id }
}

/** URL of PostgreSQL itself, not of a pooler, from the environment; undefined if none is set. */
export const givenDirectUrl = (env: Env): string | undefined => chooseDirectUrl(readEnv(settings, env))

/** URL of the database: of the folder given by `--data`, else from the environment, else of the default folder. */
export const findDatabaseUrl = async (env: Env, args: ParsedArgs): Promise<string> => {
  const directUrl = givenDirectUrl(env)
  if (directUrl !== undefined && flagText(args, 'data') === undefined) return directUrl
  return (await runningInstallation(findDataFolder(env, args), ', or set SHUTTERFLEET_DATABASE_URL')).database_url
}

/** The secret that API keys are hashed with: from the environment, else the data folder. Throws `CONFIGURATION` if both lack it. */
export const findKeyPepper = async (env: Env, args: ParsedArgs): Promise<string> => {
  const { keyPepper } = readEnv({ keyPepper: optionalPepper }, env)
  if (keyPepper !== '') return keyPepper
  const folder = findDataFolder(env, args)
  const secrets = await readPrivate<Secrets>(dataPaths(folder).secrets)
  if (secrets) return secrets.keyPepper
  throw new AppError('CONFIGURATION', {
    publicMessage: `SHUTTERFLEET_KEY_PEPPER is not set and ${folder} has none; set it to the gateway's value, or name the data folder with --data`,
  })
}
