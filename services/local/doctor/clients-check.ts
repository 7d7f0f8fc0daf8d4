import type { Check } from './check.ts'

const answerMs = 2000

/** Warns if the running gateway ignored an untrusted proxy, behind which it cannot distinguish clients. `healthUrl`: its health. */
export const clientsCheck = (healthUrl: string): Check => ({
  name: 'clients',
  advice: 'check <data>/logs/gateway.log',
  run: async () => {
    const response = await fetch(healthUrl, { signal: AbortSignal.timeout(answerMs) })
    const { detail = {} } = (await response.json()) as { detail?: { clients?: string } }
    // A warning only: any client can send the header.
    return detail.clients === undefined ? 'no proxy was ignored' : `warning: ${detail.clients}`
  },
})
