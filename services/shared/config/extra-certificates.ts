import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of the PEM file that a variable names, as PEM; none where it is empty. Throws `CONFIGURATION` where the file holds none. */
export const readExtraCertificates = async (
  path: string,
  variable = 'SHUTTERFLEET_EXTRA_CA',
): Promise<readonly string[]> => {
  if (path === '') return []
  const problem = `${variable} = ${path}, holds no certificates`
  try {
    const texts = (await readFile(path, 'utf8')).match(pem) ?? []
    const certificates = texts.map((text) => new X509Certificate(text).toString())
    if (certificates.length > 0) return certificates
  } catch (cause) {
    throw new AppError('CONFIGURATION', { publicMessage: problem, cause })
  }
  throw new AppError('CONFIGURATION', { publicMessage: problem })
}
