import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { nodeEnv } from './node-env.ts'
import { testProgramPath } from './test-program-path.ts'

/** The token with which a test's router asks gateways. */
export const testRouterToken = 'token-of-the-router'

const program = testProgramPath('gateway/main-router')

/** A router process. */
export type RunningRouter = {
  readonly pid: number
  readonly baseUrl: string
  readonly probeUrl: string
  readonly stop: () => void
  /** Exit code. */
  readonly ended: Promise<number | null>
}

/** Starts a router before cells, each a base URL by its name; killed at the test's end. */
export const startRouter = async (
  t: { readonly teardown: (clean: () => Promise<void>) => void },
  cells: Readonly<Record<string, string>>,
  publicUrl = 'http://127.0.0.1',
): Promise<RunningRouter> => {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...nodeEnv,
      SHUTTERFLEET_LOG_LEVEL: 'error',
      SHUTTERFLEET_ROUTER_CELLS: Object.entries(cells)
        .map(([name, url]) => `${name}=${url}`)
        .join(','),
      SHUTTERFLEET_ROUTER_TOKEN: testRouterToken,
      SHUTTERFLEET_ROUTER_PORT: '0',
      SHUTTERFLEET_PUBLIC_URL: publicUrl,
    },
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const announced = once(child, 'message').then(([message]) => message as Record<string, string>)
  const addresses = await Promise.race([announced, ended])
  if (typeof addresses !== 'object' || addresses === null) throw new Error(`the router ended with ${addresses}`)
  const { baseUrl = '', probeUrl = '' } = addresses
  return { pid: child.pid ?? 0, baseUrl, probeUrl, stop: () => child.kill('SIGTERM'), ended }
}
