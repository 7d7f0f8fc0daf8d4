import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { AppError } from '#shared/errors/app-error.ts'

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates in a PEM text, each as PEM. They may be malformed. */
export const certificatesIn = (text: string): readonly string[] => text.match(pem) ?? []

const readOne = (text: string): string | Error => {
  try {
    return new X509Certificate(text).toString()
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause))
  }
}

/**
 * Reads the certificates of a PEM file, as PEM; none if `path` is ''. A certificate that cannot be parsed is skipped
 * with a warning on standard error. Throws `CONFIGURATION` if the file cannot be read or contains no certificate.
 */
export const readExtraCertificates = async (
  path: string,
  variable = 'SHUTTERFLEET_EXTRA_CA',
): Promise<readonly string[]> => {
  if (path === '') return []
  const problem = `${variable} = ${path}, holds no certificates`
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AppError('CONFIGURATION', { publicMessage: problem, cause })
  })
  const read = certificatesIn(text).map(readOne)
  const certificates = read.filter((certificate) => typeof certificate === 'string')
  if (certificates.length === 0) {
    const unread = read[0] instanceof Error ? `: none of ${read.length} can be read (${read[0].message})` : ''
    throw new AppError('CONFIGURATION', { publicMessage: problem + unread })
  }
  for (const [index, certificate] of read.entries()) {
    if (typeof certificate === 'string') continue
    process.stderr.write(`${variable} = ${path}, certificate ${index + 1} cannot be read and is skipped\n`)
  }
  return certificates
}
