import { X509Certificate } from 'node:crypto'
import type { Logger } from './logger.ts'
import type { Metrics, MetricTable } from './metrics.ts'

const metricTable = {
  certificate_not_after_seconds: {
    gauge: 'Unix time at which a certificate that the service serves or presents ends',
    labels: ['name'],
  },
  certificate_read_failures_total: {
    counter: 'Times that a file of a certificate or its key could not be used; what was read before stays in use',
    labels: ['name'],
  },
} as const satisfies MetricTable

/** The certificates of a service: what egress serves, what its clients trust, and what a service presents to stores. */
type CertificateName = 'egress' | 'egress-ca' | 'postgresql' | 'nats'

/** The events of certificates that are read from files. */
export const createCertificateEvents = (log: Logger, metrics: Metrics) => {
  const metric = metrics.declare(metricTable)
  return {
    /** A certificate, as PEM, is served from now on. */
    certificateServed: (name: CertificateName, pem: string) => {
      const { validToDate, fingerprint256 } = new X509Certificate(pem)
      const fields = { name, notAfter: validToDate, fingerprint256 }
      metric.certificate_not_after_seconds.set({ name }, validToDate.getTime() / 1000)
      if (validToDate.getTime() > Date.now()) log.info(fields, 'certificate in use')
      else log.error(fields, 'certificate has expired, clients refuse it')
    },
    /** A certificate, as PEM, is presented at each new connection. */
    certificatePresented: (name: CertificateName, pem: string) =>
      metric.certificate_not_after_seconds.set({ name }, new X509Certificate(pem).validToDate.getTime() / 1000),
    /** `cause` contains paths and reasons of the file system and of TLS, and nothing of the files. */
    certificateUnusable: (name: CertificateName, cause: unknown) => {
      metric.certificate_read_failures_total.inc({ name })
      log.error({ name, reason: String(cause) }, 'certificate files cannot be used, the ones before stay in use')
    },
  }
}

/** See `createCertificateEvents`. */
export type CertificateEvents = ReturnType<typeof createCertificateEvents>
