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
  await mkdir(store)
  await certutil(['-d', `sql:${store}`, '-N', '--empty-password'])
  for (const [place, certificate] of certificates.entries()) {
    const file = join(folder, 'authority.pem')
    await writeFile(file, certificate)
    await certutil(['-d', `sql:${store}`, '-A', '-t', 'CP,,', '-n', `extra ${place + 1}`, '-i', file])
  }
  // Browsers of any user read it; a certificate is no secret.
  for (const name of await readdir(store)) await chmod(join(store, name), 0o644)
  return store
}
