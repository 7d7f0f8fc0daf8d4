import { createContract } from './contract.ts'

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
 * Validates every response of a gateway to `fetch` against the OpenAPI document, until the test ends;
 * `fetch` rejects an invalid response. `seen` contains the pairs of operation and status so far.
 */
export const watchAnswers = (t: WithTeardown, baseUrl: string): { readonly seen: ReadonlySet<string> } => {
  const contract = createContract()
  const unwatched = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const answer = await unwatched(input, init)
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    if (origin !== new URL(baseUrl).origin) return answer
    const seen = {
      method: init?.method ?? (input instanceof Request ? input.method : 'GET'),
      path: pathname,
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await jsonOf(answer),
    }
    const faults = contract.check(seen)
    if (faults.length > 0) throw new Error(`response violates the OpenAPI document:\n${faults.join('\n')}`)
    return answer
  }
  t.teardown(async () => {
    globalThis.fetch = unwatched
  })
  return { seen: contract.seen }
}
