import { execFileSync } from 'node:child_process'
import { AppError } from '#shared/errors/app-error.ts'
import type { BrowserUser } from './browser-host/protocol.ts'

/**
 * Looks up the user as which browsers run. Undefined where the worker is not root and browsers run as its own user;
 * throws `CONFIGURATION` where it is root and there is no such user.
 */
export const findBrowserUser = (name: string): BrowserUser | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const ask = (what: '-u' | '-g') => Number(execFileSync('id', [what, name], { encoding: 'utf8', stdio: 'pipe' }))
  try {
    return { name, userId: ask('-u'), groupId: ask('-g') }
  } catch (cause) {
    const message = `SHUTTERFLEET_WORKER_BROWSER_USER = ${name}, there is no such user: create it with 'useradd --system ${name}', or do not run the worker as root`
    throw new AppError('CONFIGURATION', { message, publicMessage: message, cause })
  }
}
