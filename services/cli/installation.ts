import { resolve } from 'node:path'
import { pathsOf, readPrivate } from '#local/data-folder.ts'
import { type LocalFile, readLocalFile } from '#local/local-file.ts'
import { directUrlOf, optionalPepper } from '#local/local-settings.ts'
import type { Secrets } from '#local/secrets.ts'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { clientSettings, localSettings } from '#shared/config/settings/local.ts'
import { databaseSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { flagText, type Typed } from './command.ts'

const settings = {
  ...clientSettings,
  data: localSettings.data,
  givenDatabaseUrl: localSettings.givenDatabaseUrl,
  databaseDirectUrl: databaseSettings.databaseDirectUrl,
}

/** The data folder that a command is about, as an absolute path: `--data`, else the environment, else the default. */
export const dataFolderOf = (env: Env, typed: Typed): string =>
  resolve(flagText(typed, 'data') ?? readEnv({ data: settings.data }, env).data)

/** The error where nothing runs on the data folder: `fault` is the reason, `otherwise` the alternative. */
export const notRunning = (fault: string, otherwise = ''): AppError =>
  new AppError('SERVICE_UNAVAILABLE', {
    publicMessage: `${fault}: start it with 'bin/shutterfleet up', name its folder with --data${otherwise}`,
  })

/** What `up` wrote down. Throws `SERVICE_UNAVAILABLE` where nothing runs on the folder; `otherwise` names the way without it. */
export const runningInstallation = async (folder: string, otherwise: string): Promise<LocalFile> => {
  const local = await readLocalFile(pathsOf(folder).localFile)
  if (local) return local
  throw notRunning(`nothing runs on ${folder}`, otherwise)
}

/** Base address and key for the HTTP interface: from the environment, else those of the running installation. */
export const findInterface = async (env: Env, typed: Typed): Promise<{ baseUrl: string; apiKey: string }> => {
  const { baseUrl, apiKey } = readEnv(settings, env)
  if (baseUrl !== undefined && apiKey !== '') return { baseUrl, apiKey }
  const local = await runningInstallation(
    dataFolderOf(env, typed),
    ', or set SHUTTERFLEET_BASE_URL and SHUTTERFLEET_API_KEY',
  )
  return { baseUrl: baseUrl ?? local.base_url, apiKey: apiKey || local.api_key }
}

/** Address of PostgreSQL itself from the environment; undefined where it names no database. */
export const givenDirectUrl = (env: Env): string | undefined => directUrlOf(readEnv(settings, env))

/** Address of the database: of the folder that `--data` names, else from the environment, else of the default folder. */
export const findDatabaseUrl = async (env: Env, typed: Typed): Promise<string> => {
  const directUrl = givenDirectUrl(env)
  if (directUrl !== undefined && flagText(typed, 'data') === undefined) return directUrl
  return (await runningInstallation(dataFolderOf(env, typed), ', or set SHUTTERFLEET_DATABASE_URL')).database_url
}

/** The secret that API keys are hashed with: from the environment, else the data folder's. Throws `CONFIGURATION` where it is in neither. */
export const findKeyPepper = async (env: Env, typed: Typed): Promise<string> => {
  const { keyPepper } = readEnv({ keyPepper: optionalPepper }, env)
  if (keyPepper !== '') return keyPepper
  const folder = dataFolderOf(env, typed)
  const secrets = await readPrivate<Secrets>(pathsOf(folder).secrets)
  if (secrets) return secrets.keyPepper
  throw new AppError('CONFIGURATION', {
    publicMessage: `SHUTTERFLEET_KEY_PEPPER is not set and ${folder} has none; set it as the gateway has it, or name the data folder with --data`,
  })
}
