import { type TObject, type TProperties, Type } from 'typebox'

/** A rule in Kubernetes' expression language (CEL), and the message if it is violated. */
export type Rule = {
  readonly rule: string
  readonly message: string
  /** Path of the field that the message is about, relative to the one with the rule. */
  readonly fieldPath?: string
}

/** Schema option with validation rules. */
export const withRules = (...rules: readonly [Rule, ...Rule[]]) => ({ 'x-kubernetes-validations': rules })

/** A whole number within bounds, both included. */
export const int32 = (description: string, bounds: { minimum: number; maximum: number; default?: number }) =>
  Type.Integer({ description, format: 'int32', ...bounds })

/** A count of a status. */
export const count = (description: string) => Type.Integer({ description, format: 'int64', minimum: 0 })

/** A count, or a percentage of the size such as `25%`, as in Kubernetes. */
export const countOrPercent = (description: string, fallback: number | string) =>
  Type.Unsafe<number | string>({
    'x-kubernetes-int-or-string': true,
    description,
    minimum: 0,
    maximum: 1000,
    maxLength: 4,
    pattern: '^([0-9]|[1-9][0-9]|100)%$',
    default: fallback,
  })

/** An object without required fields. */
export const partial = <const T extends TProperties>(
  properties: T,
  options: { description?: string; default?: object } = {},
) => Type.Partial(Type.Object(properties), options)

/**
 * An optional object. Its default contains the defaults of its fields, because the API server applies the rules
 * before it would fill those in.
 */
export const group = <const T extends TProperties>(
  properties: T,
  options: { description: string } & Partial<ReturnType<typeof withRules>>,
) => Type.Object(properties, { ...options, default: collectDefaults(properties) })

const collectDefaults = (properties: TProperties) =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      'default' in schema && schema.default !== undefined ? [[name, schema.default]] : [],
    ),
  )

/** A list whose items are distinguished by `keys`, so that several owners can each apply their own. */
export const listMap = <T extends TObject>(
  items: T,
  {
    keys,
    ...options
  }: { keys: readonly [string, ...string[]]; description: string; maxItems: number } & Partial<
    ReturnType<typeof withRules>
  >,
) => Type.Array(items, { ...options, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys })

/** An object with arbitrary names, whose values follow the JSON schema `values`. */
export const mapOf = <T>(
  values: object,
  options: { description: string; maxProperties: number; propertyNames?: { pattern: string } } & Partial<
    ReturnType<typeof withRules>
  >,
) => Type.Unsafe<Record<string, T>>({ type: 'object', ...options, additionalProperties: values })
