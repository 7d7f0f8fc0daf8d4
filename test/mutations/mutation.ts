/**
 * What a fault changes. `drop` and `replace` are code, found by its syntax whatever its format: in it `$name` stands for
 * any code (twice the same name: for the same), `$$name` for any number of arguments, elements or properties, and both
 * stand for that code in `by`. Where code has a name that only its function knows, write `$name`.
 */
type Change =
  /** Removes an operand of a condition or sum, a statement, or an argument, element or property. */
  | { readonly drop: string }
  /** Replaces an expression, a statement or a property by other code. */
  | { readonly replace: string; readonly by: string }
  /** Replaces exact text: in a string or regular expression of TypeScript, or in a file of another language. */
  | { readonly replaceText: string; readonly by: string }

/** A fault to inject at one place: a file, then the names of the declarations around it, `services/x.ts > outer > inner`. */
export type Fault = { readonly at: string } & Change

/** A recorded fault. With a `point`, the tests that name it must fail, otherwise the tests of the file `test`. */
export type Mutation = Fault & ({ readonly point: string } | { readonly test: string })

/** The point, or the file, whose tests must fail. */
export const guardOf = (mutation: Mutation): string => ('point' in mutation ? mutation.point : mutation.test)

/** The file that a fault changes. */
export const mutatedFile = ({ at }: Fault): string => at.split(' > ', 1)[0] ?? at

/** Faults in a file of which a test must fail with each; `at` is the declaration in the file. */
export const against = (test: string, file: string, faults: readonly Fault[]): Mutation[] =>
  faults.map((fault) => ({ ...fault, test, at: `${file} > ${fault.at}` }))
