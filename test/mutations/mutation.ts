/** A fault that is written into the code: `find` stands once in `file`. The tests that name `point` must fail with it. */
export type Mutation = {
  readonly point: string
  readonly file: string
  readonly find: string
  readonly replace: string
}
