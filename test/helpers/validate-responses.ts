import { createContract, type Described } from './contract.ts'

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

const jsonOf = async (answer: Response): Promise<unknown> => {
  if (!answer.headers.get('content-type')?.startsWith('application/json')) return undefined
  // A truncated body is left to the test.
  return answer
    .clone()
    .json()
    .catch(() => undefined)
}

/**
 * Validates every response of a gateway to `fetch` against the OpenAPI document, by default the public one, until the test ends;
 * `fetch` rejects an invalid response. `coveredResponses` contains the pairs of operation and status so far.
 */
export const validateResponses = (
  t: WithTeardown,
  baseUrl: string,
  document?: Described,
): { readonly coveredResponses: ReadonlySet<string> } => {
  const contract = createContract(document)
  const originalFetch = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const response = await originalFetch(input, init)
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    if (origin !== new URL(baseUrl).origin) return response
    const recorded = {
      method: init?.method ?? (input instanceof Request ? input.method : 'GET'),
      path: pathname,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await jsonOf(response),
    }
    const faults = contract.check(recorded)
    if (faults.length > 0) throw new Error(`response violates the OpenAPI document:\n${faults.join('\n')}`)
    return response
  }
  t.teardown(async () => {
    globalThis.fetch = originalFetch
  })
  return { coveredResponses: contract.coveredResponses }
}
