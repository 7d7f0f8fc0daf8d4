import type { Answer } from './answer.ts'

/** Paths without an operation, which redirect people to the reference. */
export const redirectPaths = ['/', '/v1', '/api/v1'] as const

/** Redirects to the reference, with a body for programs. The paths are relative, to keep the path prefix of a reverse proxy. */
export const redirectToReference = async (): Promise<Answer> => ({
  status: 302,
  headers: { location: 'v1/docs' },
  body: { data: { docs: 'v1/docs', openapi: 'v1/openapi.json' } },
})
