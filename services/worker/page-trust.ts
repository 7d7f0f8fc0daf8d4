import { execFile } from 'node:child_process'
import { chown, cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '#shared/errors/app-error.ts'
import { readExtraCertificates } from '#shared/net/extra-certificates.ts'
import type { BrowserUser } from './browser-host/protocol.ts'

const certutilMs = 20_000

const certutil = async (args: readonly string[]): Promise<void> => {
  try {
    await promisify(execFile)('certutil', args, { timeout: certutilMs })
  } catch (cause) {
    const isMissing = (cause as { code?: unknown }).code === 'ENOENT'
    const why = isMissing ? 'certutil is missing (package libnss3-tools)' : `certutil: ${(cause as Error).message}`
    throw new AppError('CONFIGURATION', {
      publicMessage: `SHUTTERFLEET_EXTRA_CA: pages cannot trust it: ${why}`,
      cause,
    })
  }
}

/**
 * Makes the certificate store in which Chromium finds the authorities of a PEM file, below `folder`; answers its path, or
 * undefined where no file is named. Throws `CONFIGURATION`.
 */
export const makePageTrust = async (folder: string, pemPath: string): Promise<string | undefined> => {
  const certificates = await readExtraCertificates(pemPath)
  if (certificates.length === 0) return undefined
  const store = join(folder, 'trust')
  await mkdir(store, { mode: 0o700 })
  await certutil(['-d', `sql:${store}`, '-N', '--empty-password'])
  for (const [place, certificate] of certificates.entries()) {
    const file = join(folder, 'authority.pem')
    await writeFile(file, certificate)
    await certutil(['-d', `sql:${store}`, '-A', '-t', 'CP,,', '-n', `extra ${place + 1}`, '-i', file])
  }
  return store
}

/** Gives a browser's home a copy of the store, where Chromium looks for it; to `user` where one is given. */
export const bringPageTrust = async (store: string, home: string, user: BrowserUser | undefined): Promise<void> => {
  const folders = [join(home, '.pki'), join(home, '.pki', 'nssdb')] as const
  await cp(store, folders[1], { recursive: true })
  if (!user) return
  const files = (await readdir(folders[1])).map((name) => join(folders[1], name))
  for (const path of [...folders, ...files]) await chown(path, user.userId, user.groupId)
}
