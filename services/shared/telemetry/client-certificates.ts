import { setTimeout as delay } from 'node:timers/promises'
import { readBounded } from '#shared/config/read-bounded.ts'
import type { CertificateEvents } from './certificate-events.ts'

const everyMs = 60_000
/** Bounds a file of certificates, in bytes. */
const bytesMax = 1_048_576

/** The settings that name certificates which a service presents to PostgreSQL and NATS. */
export type ClientCertificates = { readonly databaseUrl?: string; readonly natsCertificateFile?: string }

/** Reports when the certificates that a service presents end, every minute until disposed: each new connection reads their files. */
export const reportClientCertificates = (
  { databaseUrl, natsCertificateFile }: ClientCertificates,
  events: Pick<CertificateEvents, 'certificatePresented' | 'certificateUnusable'>,
): Disposable => {
  const named = [
    { name: 'postgresql', path: databaseUrl && URL.parse(databaseUrl)?.searchParams.get('sslcert') },
    { name: 'nats', path: natsCertificateFile },
  ] as const
  const files = named.flatMap(({ name, path }) => (path ? [{ name, path }] : []))
  const disposal = new AbortController()
  const { signal } = disposal
  const keepReporting = async () => {
    while (!signal.aborted && files.length > 0) {
      for (const { name, path } of files) {
        const read = async () => events.certificatePresented(name, await readBounded(path, bytesMax))
        await read().catch((cause: unknown) => events.certificateUnusable(name, cause))
      }
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  void keepReporting()
  return { [Symbol.dispose]: () => disposal.abort() }
}
