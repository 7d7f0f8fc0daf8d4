/** Sends requests until `stop` aborts. Throws `TypeError` as `fetch` does, with a message for people, if there is no response. */
export const serviceFetch =
  (stop: AbortSignal) =>
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const signal = AbortSignal.any([stop, ...(init?.signal ? [init.signal] : [])])
    try {
      return await fetch(input, { ...init, signal })
    } catch (thrown) {
      const { origin } = new URL(input instanceof Request ? input.url : input)
      const reason = String((thrown as Error).cause ?? thrown)
      throw new TypeError(`${origin} is unreachable (${reason}); 'bin/shutterfleet status' shows whether it is up`, {
        cause: thrown,
      })
    }
  }
