import type { Mutation } from './mutation.ts'

/** Against the points of paths, envelopes and headers. */
export const paths: readonly Mutation[] = [
  {
    point: 'Path prefix',
    file: 'services/gateway/operations/routes.ts',
    find: "export const prefixes = ['/v1', '/api/v1'] as const",
    replace: "export const prefixes = ['/v1', '/api'] as const",
  },
]
