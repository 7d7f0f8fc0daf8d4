import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the kernel's ephemeral ports, so that no connection or server on port 0 takes the port meanwhile. */
const [lowest, highest] = [10_000, 32_000] as const
const triesMax = 100

/** Returns a free TCP port of loopback that other processes are unlikely to choose. */
export const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(lowest, highest)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
  throw new Error(`no free port between ${lowest} and ${highest}`)
}
