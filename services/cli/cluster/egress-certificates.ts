import { X509Certificate } from 'node:crypto'
import { certificatesIn } from '#shared/config/extra-certificates.ts'
import { makeSelfSigned } from './self-signed.ts'

/** The data of a Secret, decoded. */
type SecretTexts = Readonly<Record<string, string>>

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const validMs = 365 * dayMs
/** A certificate is replaced no earlier than when this is left of its time. */
const renewMs = 122 * dayMs
/** Certificates begin this long before they are made, for clocks that are late. */
const skewMs = hourMs
/** Certificates that clients trust at most: those served, next, and before. */
const trustedMax = 8

/** Names of the keys of an egress filter in the Secret. */
const namesOf = (filter: string) => ({
  certificate: `${filter}-tls.crt`,
  key: `${filter}-tls.key`,
  nextCertificate: `${filter}-next-tls.crt`,
  nextKey: `${filter}-next-tls.key`,
  trusted: `${filter}-ca.crt`,
})

const remainingMs = (certificate: string, nowMs: number) =>
  new X509Certificate(certificate).validToDate.getTime() - nowMs
const isFor = (certificate: string, hosts: readonly string[]) =>
  new X509Certificate(certificate).subjectAltName === hosts.map((host) => `DNS:${host}`).join(', ')
const ageMs = (certificate: string, nowMs: number) =>
  nowMs - skewMs - new X509Certificate(certificate).validFromDate.getTime()

/**
 * The certificate that an egress filter serves under `hosts`, its successor, and what clients trust: both, and those of before until they
 * end. Each is its own authority, of which no key is kept. A successor is served once the certificate before it has less than 122 of
 * its 365 days left, and less than the successor has been trusted, so that months pass in which clients can learn of it. All are
 * replaced if the certificate is for other names.
 */
export const renewCertificates = (
  existing: SecretTexts,
  filter: string,
  hosts: readonly string[],
  nowMs: number,
): SecretTexts => {
  const names = namesOf(filter)
  const make = () => makeSelfSigned(hosts, nowMs - skewMs, nowMs + validMs)
  const read = (certificate = '', key = '') =>
    certificate !== '' && key !== '' && isFor(certificate, hosts) && remainingMs(certificate, nowMs) > 0
      ? { certificate, key }
      : undefined
  let next = read(existing[names.nextCertificate], existing[names.nextKey]) ?? make()
  let current = read(existing[names.certificate], existing[names.key])
  const leftMs = current === undefined ? 0 : remainingMs(current.certificate, nowMs)
  if (current === undefined || leftMs < Math.min(renewMs, ageMs(next.certificate, nowMs))) {
    current = next
    next = make()
  }
  const before = certificatesIn(existing[names.trusted] ?? '').map((each) => `${each}\n`)
  const unexpired = before.filter((certificate) => remainingMs(certificate, nowMs) > 0)
  const trusted = [...new Set([next.certificate, current.certificate, ...unexpired])].slice(0, trustedMax)
  return {
    [names.certificate]: current.certificate,
    [names.key]: current.key,
    [names.nextCertificate]: next.certificate,
    [names.nextKey]: next.key,
    [names.trusted]: trusted.join(''),
  }
}
