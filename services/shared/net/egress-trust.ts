import { X509Certificate } from 'node:crypto'
import { connect, isIP, type Socket } from 'node:net'
import {
  connect as connectTls,
  type ConnectionOptions,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { certificatesIn } from '#shared/config/extra-certificates.ts'
import { type FilesWatcher, watchFiles } from '#shared/config/watch-files.ts'
import { AppError } from '#shared/errors/app-error.ts'

/** Certificates that clients trust for egress, which they then reach by TLS only. */
export type EgressTrust = Disposable & { readonly connect: (to: { host: string; port: number }) => TLSSocket }

/** Address on which egress listens, and the certificates to trust there; without them it is reached in clear. */
export type EgressAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly trust?: EgressTrust | undefined }

/** Oldest version that both ends speak: both are ours. */
export const egressTlsVersion = 'TLSv1.3'

/**
 * Reads the certificates to trust for egress, and again every `everyMs`; undefined if `path` is ''. Throws `CONFIGURATION` if
 * there are none.
 */
export const openEgressTrust = async (
  path: string,
  failed: FilesWatcher['failed'],
  everyMs = 5000,
): Promise<EgressTrust | undefined> => {
  if (path === '') return undefined
  let context: SecureContext | undefined
  /** Of the latest connection: a handshake that resumes it needs no signature of the server. */
  let session: Buffer | undefined
  const apply = ([text = '']: readonly string[]) => {
    const certificates = certificatesIn(text)
    if (certificates.length === 0) throw new Error(`${path} contains no certificate`)
    // Parsed here too, because a context skips those that it cannot read.
    const parsed = certificates.map((each) => new X509Certificate(each).toString())
    context = createSecureContext({ ca: parsed, minVersion: egressTlsVersion })
    session = undefined
  }
  const watch = await watchFiles([path], { apply, failed, everyMs }).catch((cause: unknown) => {
    const publicMessage = `SHUTTERFLEET_EGRESS_CA_FILE = ${path}, cannot be used: ${String(cause)}`
    throw new AppError('CONFIGURATION', { publicMessage, cause })
  })
  return {
    connect: ({ host, port }) => {
      const used = context
      const options: ConnectionOptions & { readonly allowHalfOpen: true } = {
        host,
        port,
        allowHalfOpen: true,
        ...(isIP(host) === 0 && { servername: host }),
        ...(used && { secureContext: used }),
        ...(session && { session }),
      }
      const socket = connectTls(options)
      // A connection that resumes a session is not verified again.
      socket.on('session', (next) => {
        if (socket.authorized && used === context) session = next
      })
      return socket.setNoDelay()
    },
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  }
}

/** Connects to egress. What is written before the connection is secure waits for it. */
export const connectEgress = (egress: EgressAddress): Socket => {
  if ('socketPath' in egress) return connect({ path: egress.socketPath, allowHalfOpen: true })
  const { host, port, trust } = egress
  return trust ? trust.connect({ host, port }) : connect({ host, port, noDelay: true, allowHalfOpen: true })
}
