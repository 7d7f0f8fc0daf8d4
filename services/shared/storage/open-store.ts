import { AppError } from '#shared/errors/app-error.ts'
import type { SettingValues } from '#shared/config/read-env.ts'
import type { storageSettings } from '#shared/config/settings/outside.ts'
import type { IdentityReports } from '#shared/telemetry/identity-events.ts'
import { openKeys } from './open-keys.ts'
import { createFilesStore, type FilesStore } from './files-store.ts'
import type { ObjectStore } from './object-store.ts'

/** The configured store; `files` is set if it is the files driver. */
type OpenedStore = { readonly objects: ObjectStore; readonly files: FilesStore | undefined }

/** Opens the object store. Loads the S3 client, which takes 26 MiB, only if it is used. Throws `CONFIGURATION` naming the setting that the chosen driver lacks. */
export const openStore = async (
  settings: SettingValues<typeof storageSettings>,
  reports: IdentityReports,
): Promise<OpenedStore> => {
  const need = (value: string | undefined, variable: string): string => {
    if (value) return value
    throw new AppError('CONFIGURATION', {
      publicMessage: `SHUTTERFLEET_${variable} is not set; SHUTTERFLEET_STORAGE_DRIVER=${settings.storageDriver} needs it`,
    })
  }
  if (settings.storageDriver === 's3') {
    const { createS3Store } = await import('./s3-store.ts')
    const objects = createS3Store(need(settings.s3Url, 'S3_URL'), (region, inAddress) =>
      openKeys(settings, region, inAddress, reports),
    )
    return { objects, files: undefined }
  }
  const files = createFilesStore({
    folder: need(settings.storageFolder, 'STORAGE_FOLDER'),
    filesUrl: need(settings.storageFilesUrl, 'STORAGE_FILES_URL'),
    signingKey: need(settings.storageSigningKey, 'STORAGE_SIGNING_KEY'),
    now: () => new Date(),
  })
  return { objects: files, files }
}
