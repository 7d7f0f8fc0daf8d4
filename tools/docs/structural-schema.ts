/** The JSON Schema keywords that Kubernetes supports and this project uses. */
export type StructuralSchema = {
  readonly description?: string
  readonly type?: string
  readonly default?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly items?: StructuralSchema
  readonly additionalProperties?: StructuralSchema
  readonly propertyNames?: StructuralSchema
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[]
}

const structuralEach = (schemas: Readonly<Record<string, StructuralSchema>>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, structural(each)]))

const structural = (schema: StructuralSchema): StructuralSchema => {
  // Kubernetes does not know `propertyNames`; a rule says the same.
  const {
    description,
    type,
    required = [],
    properties,
    items,
    additionalProperties,
    propertyNames: _,
    ...rest
  } = schema
  const needed = required.filter((name) => properties?.[name]?.default === undefined)
  return {
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...rest,
    ...(needed.length > 0 && { required: needed }),
    ...(properties && { properties: structuralEach(properties) }),
    ...(items && { items: structural(items) }),
    ...(additionalProperties && { additionalProperties: structural(additionalProperties) }),
  }
}

/**
 * A JSON schema as users see it: fields with a default are not required (the schemas in the code require them, because the
 * default is filled in), and the description comes first.
 */
export const structuralSchema = (source: object): StructuralSchema =>
  structural(JSON.parse(JSON.stringify(source)) as StructuralSchema)
