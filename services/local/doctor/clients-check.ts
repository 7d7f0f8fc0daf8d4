import type { Check } from './check.ts'

const answerMs = 2000

/** Whether the gateway that runs can tell its clients apart. `healthUrl`: its health. */
export const clientsCheck = (healthUrl: string): Check => ({
  name: 'clients',
  advice: 'look at <data>/logs/gateway.log',
  look: async () => {
    const response = await fetch(healthUrl, { signal: AbortSignal.timeout(answerMs) })
    const { detail = {} } = (await response.json()) as { detail?: { clients?: string } }
    // Anybody can send the header, so it is no failure.
    return detail.clients === undefined ? 'no proxy was ignored' : `warning: ${detail.clients}`
  },
})
