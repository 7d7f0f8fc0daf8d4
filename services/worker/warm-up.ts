import { withDefaults } from '#shared/capture/options.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Canary } from './canary.ts'
import { canaryPage } from './canary.ts'
import type { Host } from './host/steer-host.ts'

const timeoutSeconds = 10
const boundMs = 25_000

/**
 * Takes a real capture of a page that tries to get around its proxy. Throws `SERVICE_UNAVAILABLE` where there is no
 * picture, or where the canary heard the page: such a host must not see a stranger's page.
 */
export const warmUp = async (
  host: Pick<Host, 'capture'>,
  canary: Pick<Canary, 'heard'> & { port: number },
  browser: BrowserKind,
): Promise<void> => {
  const heardBefore = canary.heard()
  const options = withDefaults({
    html: canaryPage(canary.port),
    stealth: browser === 'full',
    width: 320,
    height: 200,
    timeout: timeoutSeconds,
    wait_for_selector: '#settled',
  })
  const outcome = await host.capture({ id: 'warm-up', options, online: false }, performance.now() + boundMs)
  if (canary.heard() > heardBefore) {
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'a page reached the loopback of the worker around its proxy' })
  }
  if (outcome.outcome !== 'completed') {
    const how = outcome.outcome === 'failed' ? outcome.code : `interrupted by ${outcome.by}:`
    throw new AppError('SERVICE_UNAVAILABLE', { message: `warm-up: ${how} ${outcome.detail}` })
  }
}
