/** The part of a JSON schema that bounds a parameter. */
export type Bound = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly expected?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

const range = ({ minimum, maximum }: Bound): string => `from ${minimum} to ${maximum}`

const most = (maximum: number | undefined): string => (maximum === undefined ? '' : ` of at most ${maximum} entries`)

/** Describes the valid values of a parameter in one phrase, for error messages. */
export const describeBound = (bound: Bound): string => {
  if (bound.expected !== undefined) return `must be ${bound.expected}`
  if (bound.enum) return `must be one of ${bound.enum.join(', ')}`
  if (bound.type === 'boolean') return 'must be true or false'
  if (bound.type === 'integer') return `must be a whole number ${range(bound)}`
  if (bound.type === 'number') return `must be a number ${range(bound)}`
  if (bound.type === 'array') return `must be a list${most(bound.maxItems)}`
  return `must be an object${most(bound.maxProperties)}`
}
