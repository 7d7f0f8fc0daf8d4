import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startAnnounced } from './announced-process.ts'
import { nodeEnv } from './node-env.ts'
import { testProgramPath } from './test-program-path.ts'

/** With which tests hash keys. */
export const testPepper = 'pepper of tests'
/** The token with which a test's router asks gateways. */
export const testRouterToken = 'token-of-the-router'

const program = testProgramPath('gateway/main-router')

/** A router process. */
export type RunningRouter = {
  readonly pid: number
  readonly baseUrl: string
  readonly probeUrl: string
}

type WithTeardown = { readonly teardown: (clean: () => Promise<void>) => void }

/** A cell without accounts; resolves to its URL. */
export const startEmptyCell = async (t: WithTeardown): Promise<string> => {
  const cell = createServer((_request, response) => response.end('{"data":{"claims":[]}}'))
  cell.listen(0, '127.0.0.1')
  await once(cell, 'listening')
  t.teardown(async () => {
    cell.closeAllConnections()
    cell.close()
  })
  return `http://127.0.0.1:${(cell.address() as AddressInfo).port}`
}

/** Starts a router before cells, each a base URL by its name; killed at the test's end. */
export const startRouter = async (
  t: WithTeardown,
  cells: Readonly<Record<string, string>>,
  publicUrl = 'http://127.0.0.1',
): Promise<RunningRouter> => {
  const env = {
    ...nodeEnv,
    SHUTTERFLEET_LOG_LEVEL: 'error',
    SHUTTERFLEET_ROUTER_CELLS: Object.entries(cells)
      .map(([name, url]) => `${name}=${url}`)
      .join(','),
    SHUTTERFLEET_ROUTER_TOKENS: Object.keys(cells)
      .map((name) => `${name}=${testRouterToken}`)
      .join(','),
    SHUTTERFLEET_KEY_PEPPER: testPepper,
    SHUTTERFLEET_ROUTER_PORT: '0',
    SHUTTERFLEET_PUBLIC_URL: publicUrl,
  }
  const { pid, addresses } = await startAnnounced(t, [program], { env })
  const { baseUrl = '', probeUrl = '' } = addresses
  return { pid, baseUrl, probeUrl }
}
