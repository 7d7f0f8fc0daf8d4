/**
 * A fault that is written into the code: `find` stands once in `file`. Where there is a `point`, the tests that name it must
 * fail with it, else those of the file `test`.
 */
export type Mutation = {
  readonly file: string
  readonly find: string
  readonly replace: string
} & ({ readonly point: string } | { readonly test: string })

/** The point, or the file, whose tests must fail. */
export const guardOf = (mutation: Mutation): string => ('point' in mutation ? mutation.point : mutation.test)
