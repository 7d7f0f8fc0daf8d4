import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { attemptBudgetMs } from '#shared/capture/budget.ts'
import { withDefaults } from '#shared/capture/options.ts'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Host } from './steer-host.ts'

/**
 * Creates a canary, a server for the worker's loopback, which no page may reach. It counts connections, closes them without a
 * response, and calls `onReached` for each.
 */
export const createCanary = (onReached: () => void) => {
  let connections = 0
  const server = createServer((client) => {
    connections += 1
    onReached()
    client.destroy()
  })
  return { server, connections: () => connections }
}

/** See `createCanary`. */
export type Canary = Readonly<ReturnType<typeof createCanary>>

/** A page that tries to reach the canary by image, WebSocket and fetch, and sets the id `settled` on its body after all tries. */
export const canaryPage = (port: number): string => `<!doctype html><title>canary</title>
<img src="http://127.0.0.1:${port}/image" alt="">
<script>
  const socket = new WebSocket('ws://localhost:${port}/socket')
  const tries = [
    fetch('http://127.0.0.1:${port}/fetch', { mode: 'no-cors' }),
    new Promise((done) => { socket.onerror = socket.onopen = done }),
  ]
  Promise.allSettled(tries).then(() => { document.body.id = 'settled' })
</script>
<body>ready</body>`

/** Tells a program from another one that replaces it under its name. */
const identify = (program: string): string => {
  const { ino, mtimeMs, size } = statSync(program)
  return `${ino} ${mtimeMs} ${size}`
}

/**
 * Whether a host of a worker has passed its checks. All its hosts start alike, so that one passes for those that are started later, until
 * an update of the machine replaces the browser's program.
 */
export const createPassed = (program: string) => {
  let passed: string | undefined
  return {
    /** To be called before a host is started: whether one has passed, and what records that this one does. */
    read: (): { readonly isPassed: boolean; readonly record: () => void } => {
      const installed = identify(program)
      return { isPassed: installed === passed, record: () => void (passed = installed) }
    },
  }
}

/**
 * Captures a page that tries to bypass its proxy, in at most twice `startMs` and the slack of a capture. Throws
 * `SERVICE_UNAVAILABLE` if the capture fails or the page reached the canary: such a host must not load untrusted pages.
 */
export const warmUp = async (
  host: Pick<Host, 'capture'>,
  canary: Pick<Canary, 'connections'> & { port: number },
  { browser, startMs }: { readonly browser: BrowserKind; readonly startMs: number },
): Promise<void> => {
  const before = canary.connections()
  const options = withDefaults({
    html: canaryPage(canary.port),
    stealth: browser === 'full',
    width: 320,
    height: 200,
    timeout: startMs / 1000,
    wait_for_selector: '#settled',
  })
  const endsAt = performance.now() + startMs + attemptBudgetMs(options)
  const outcome = await host.capture({ id: 'warm-up', options, online: false }, endsAt)
  if (canary.connections() > before) {
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'a page reached the loopback of the worker around its proxy' })
  }
  if (outcome.outcome !== 'completed') {
    const how = outcome.outcome === 'failed' ? outcome.code : `interrupted by ${outcome.by}:`
    throw new AppError('SERVICE_UNAVAILABLE', { message: `warm-up: ${how} ${outcome.detail}` })
  }
}
