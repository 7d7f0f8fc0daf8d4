import type { Server } from 'node:https'
import { watchFiles } from '#shared/config/watch-files.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { egressTlsVersion } from '#shared/net/egress-trust.ts'
import type { Config } from './config.ts'
import type { Events } from './telemetry/events.ts'

/**
 * Gives a server the certificate that the settings name. When its files change, further handshakes use the new one; connections stay
 * open. Throws `CONFIGURATION` if there is no usable certificate at first. Dispose ends the reading.
 */
export const keepCertificate = (
  server: Server,
  { certificateFile, keyFile }: Pick<Config, 'certificateFile' | 'keyFile'>,
  events: Pick<Events, 'certificateServed' | 'certificateUnusable'>,
): Promise<Disposable> => {
  const apply = ([cert = '', key = '']: readonly string[]) => {
    // Throws if the key is not that of the certificate.
    server.setSecureContext({ cert, key, minVersion: egressTlsVersion })
    events.certificateServed('egress', cert)
  }
  const failed = (cause: unknown) => events.certificateUnusable('egress', cause)
  return watchFiles([certificateFile, keyFile], { apply, failed }).catch((cause: unknown) => {
    const message = `SHUTTERFLEET_EGRESS_CERTIFICATE_FILE = ${certificateFile}, SHUTTERFLEET_EGRESS_KEY_FILE = ${keyFile}, cannot be used: ${String(cause)}`
    throw new AppError('CONFIGURATION', { message, publicMessage: message, cause })
  })
}
