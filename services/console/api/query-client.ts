import { QueryCache, QueryClient } from '@tanstack/preact-query'
import { ApiError, sendRequest } from './request.ts'
import { sessionPath } from './session.tsx'

const freshMs = 5000
const retries = 2

/** Worth another attempt: the connection, or a server that is starting or overloaded. */
const isTransient = (error: Error) => error instanceof ApiError && (error.status === 0 || error.status === 503)

/** Creates the cache of responses. A query's key is its path, which is loaded by default. A 401 ends the session. */
export const createQueryClient = (): QueryClient => {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        const isSignedOut = error instanceof ApiError && error.status === 401
        if (isSignedOut && queryKey[0] !== sessionPath) void client.invalidateQueries({ queryKey: [sessionPath] })
      },
    }),
    defaultOptions: {
      queries: {
        queryFn: ({ queryKey, signal }) => sendRequest(String(queryKey[0]), { signal }),
        staleTime: freshMs,
        retry: (count, error) => count < retries && isTransient(error),
        // A request without a connection fails and says so; `retry` repeats it.
        networkMode: 'always',
        refetchOnReconnect: true,
      },
      mutations: { networkMode: 'always' },
    },
  })
  return client
}
