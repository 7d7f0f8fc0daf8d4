import { integer, oneOf, text } from '#shared/config/setting.ts'

/** Settings that every service has. */
export const commonSettings = {
  logLevel: oneOf('LOG_LEVEL', {
    help: 'least severe log lines that are written',
    fallback: 'info',
    values: ['debug', 'info', 'warn', 'error'],
  }),
  probeHost: text('PROBE_HOST', { help: 'address on which health and metrics are served', fallback: '127.0.0.1' }),
  probePort: integer('PROBE_PORT', {
    help: 'port on which health and metrics are served; 0 takes a free one',
    fallback: 0,
    min: 0,
    max: 65_535,
  }),
}
