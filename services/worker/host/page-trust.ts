import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'
import { AppError } from '#shared/errors/app-error.ts'

const certutilMs = 20_000

const certutil = async (args: readonly string[]): Promise<void> => {
  try {
    await promisify(execFile)('certutil', args, { timeout: certutilMs })
  } catch (cause) {
    const isMissing = (cause as { code?: unknown }).code === 'ENOENT'
    const reason = isMissing ? 'certutil is missing (package libnss3-tools)' : `certutil: ${(cause as Error).message}`
    throw new AppError('CONFIGURATION', {
      publicMessage: `SHUTTERFLEET_EXTRA_CA: pages cannot trust it: ${reason}`,
      cause,
    })
  }
}

/**
 * Creates a certificate store for Chromium below `folder` with the authorities of a PEM file. Returns its path; undefined if
 * `pemPath` is ''. Throws `CONFIGURATION`.
 */
export const makePageTrust = async (folder: string, pemPath: string): Promise<string | undefined> => {
  const certificates = await readExtraCertificates(pemPath)
  if (certificates.length === 0) return undefined
  const store = join(folder, 'trust')
  await mkdir(store)
  await certutil(['-d', `sql:${store}`, '-N', '--empty-password'])
  for (const [index, certificate] of certificates.entries()) {
    const file = join(folder, 'authority.pem')
    await writeFile(file, certificate)
    await certutil(['-d', `sql:${store}`, '-A', '-t', 'CP,,', '-n', `extra ${index + 1}`, '-i', file])
  }
  // Browsers run as other users; certificates are public.
  for (const name of await readdir(store)) await chmod(join(store, name), 0o644)
  return store
}
