import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a PEM file, as PEM; none where no file is named. Throws `CONFIGURATION` where a named one holds none. */
export const readExtraCertificates = async (path: string): Promise<readonly string[]> => {
  if (path === '') return []
  const problem = `SHUTTERFLEET_EXTRA_CA = ${path}, holds no certificates`
  try {
    const texts = (await readFile(path, 'utf8')).match(pem) ?? []
    const certificates = texts.map((text) => new X509Certificate(text).toString())
    if (certificates.length > 0) return certificates
  } catch (cause) {
    throw new AppError('CONFIGURATION', { publicMessage: problem, cause })
  }
  throw new AppError('CONFIGURATION', { publicMessage: problem })
}
