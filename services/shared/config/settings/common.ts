import { oneOf, port, text } from './setting.ts'

/** Settings that every service has. */
export const commonSettings = {
  logLevel: oneOf('LOG_LEVEL', {
    help: 'least severe log lines that are written',
    fallback: 'info',
    values: ['debug', 'info', 'warn', 'error'],
  }),
  probeHost: text('PROBE_HOST', { help: 'address on which health and metrics are served', fallback: '127.0.0.1' }),
  probePort: port('PROBE_PORT', { help: 'port on which health and metrics are served', fallback: 0 }),
}
