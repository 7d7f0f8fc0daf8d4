import type { Dispatcher } from 'undici'

/** Another try on a new connection, if a gateway that stops, or for which it was idle for too long, closed the one that was used. */
const triesMax = 2
const closed = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Sends a request to a cell, of which `isRepeatable` says whether it may arrive twice. Throws if no response begins. */
export const requestCell = async (
  agent: Dispatcher,
  sent: Dispatcher.RequestOptions,
  isRepeatable: boolean,
): Promise<Dispatcher.ResponseData> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await agent.request(sent)
    } catch (error) {
      const isClosed = closed.has(String((error as NodeJS.ErrnoException).code))
      if (!isRepeatable || !isClosed || tries === triesMax) throw error
    }
  }
}
