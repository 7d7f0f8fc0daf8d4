import { startAnnounced } from './announced-process.ts'
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
}

/** Starts a router before cells, each a base URL by its name; killed at the test's end. */
export const startRouter = async (
  t: { readonly teardown: (clean: () => Promise<void>) => void },
  cells: Readonly<Record<string, string>>,
  publicUrl = 'http://127.0.0.1',
): Promise<RunningRouter> => {
  const env = {
    ...nodeEnv,
    SHUTTERFLEET_LOG_LEVEL: 'error',
    SHUTTERFLEET_ROUTER_CELLS: Object.entries(cells)
      .map(([name, url]) => `${name}=${url}`)
      .join(','),
    SHUTTERFLEET_ROUTER_TOKEN: testRouterToken,
    SHUTTERFLEET_ROUTER_PORT: '0',
    SHUTTERFLEET_PUBLIC_URL: publicUrl,
  }
  const { pid, addresses } = await startAnnounced(t, [program], { env })
  const { baseUrl = '', probeUrl = '' } = addresses
  return { pid, baseUrl, probeUrl }
}
