import { AppError } from '#shared/errors/app-error.ts'

/**
 * Sends requests until `stop` aborts. Without a response throws with a message for people: `TypeError` if the connection failed, as
 * `fetch` does, after which the client may repeat the request; `SERVICE_UNAVAILABLE` if there was none in time, or `stop` has aborted.
 */
export const serviceFetch =
  (stop: AbortSignal) =>
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const signal = AbortSignal.any([stop, ...(init?.signal ? [init.signal] : [])])
    try {
      return await fetch(input, { ...init, signal })
    } catch (cause) {
      const { origin } = new URL(input instanceof Request ? input.url : input)
      const reason = String((cause as Error).cause ?? cause)
      const message = `${origin} is unreachable (${reason}); 'bin/shutterfleet status' shows whether it is up`
      if (cause instanceof TypeError) throw new TypeError(message, { cause })
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: message, cause })
    }
  }
