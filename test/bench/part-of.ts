import { chromiumPath } from '#test/helpers/bare-browser.ts'

/** The part of the service that a process is, by its command line. */
export const partOf = (command: string): string => {
  const [program = ''] = command.split(' ')
  if (program === chromiumPath) return 'Chromium'
  if (program.endsWith('nats-server')) return 'NATS'
  if (/^postgres|\/postgres$/.test(program)) return 'PostgreSQL'
  if (command.includes('browser-host')) return 'browser host'
  return /services\/(\w+)\/main/.exec(command)?.[1] ?? program
}
