/**
 * A fault to inject into the code: `find` occurs exactly once in `file`. With a `point`, the tests that name it must
 * fail, otherwise the tests of the file `test`.
 */
export type Mutation = {
  readonly file: string
  readonly find: string
  readonly replace: string
} & ({ readonly point: string } | { readonly test: string })

/** The point, or the file, whose tests must fail. */
export const guardOf = (mutation: Mutation): string => ('point' in mutation ? mutation.point : mutation.test)
