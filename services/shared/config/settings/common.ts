import { listenHost } from './listen-host.ts'
import { oneOf, port } from './setting.ts'

/** Settings that every service has. */
export const commonSettings = {
  logLevel: oneOf('LOG_LEVEL', {
    help: 'least severe log lines that are written',
    fallback: 'info',
    values: ['debug', 'info', 'warn', 'error'],
  }),
  probeHost: listenHost('PROBE_HOST', 'address on which health and metrics are served'),
  probePort: port('PROBE_PORT', { help: 'port on which health and metrics are served', fallback: 0 }),
}
