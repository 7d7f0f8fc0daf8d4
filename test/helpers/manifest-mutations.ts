import { exclusiveFields, manifestSamples } from './manifest-samples.ts'

/** A part of an OpenAPI document: the schema of a Kubernetes type. */
export type KubeSchema = {
  readonly $ref?: string
  readonly allOf?: readonly KubeSchema[]
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, KubeSchema>>
  readonly additionalProperties?: KubeSchema
  readonly items?: KubeSchema
}

/** One change of a manifest: the path of the field with what happens to it, and the changed manifest. */
export type Mutation = { readonly path: string; readonly manifest: unknown }

type Keys = readonly (string | number)[]
type Place = { readonly value: unknown; readonly schema: KubeSchema; readonly keys: Keys; readonly path: string }

/** The manifest with another value at a place; without the place if the value is undefined. */
const changed = (whole: unknown, [key, ...below]: Keys, value: unknown): unknown => {
  if (key === undefined) return value
  if (Array.isArray(whole)) {
    const next = changed(whole[Number(key)], below, value)
    return next === undefined ? whole.toSpliced(Number(key), 1) : whole.toSpliced(Number(key), 1, next)
  }
  const { [key]: before, ...others } = (whole ?? {}) as Record<string, unknown>
  const next = changed(before, below, value)
  return next === undefined ? others : { ...others, [key]: next }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Every single change of a manifest: another value of each field, no field, each field of its type that is absent, and a further
 * element of each list. `missing` has the types' fields and lists of which `manifestSamples` has no value. The fields `skipped` of the manifest stay.
 */
export class ManifestMutations {
  readonly missing = new Set<string>()
  readonly #schemas: Readonly<Record<string, KubeSchema>>
  readonly #skipped: ReadonlySet<string>

  constructor(schemas: Readonly<Record<string, KubeSchema>>, skipped: readonly string[]) {
    this.#schemas = schemas
    this.#skipped = new Set(skipped)
  }

  of(manifest: unknown, type: string): readonly Mutation[] {
    const schema = Object.entries(this.#schemas).find(([name]) => name.endsWith(`.${type}`))?.[1]
    if (!schema) throw new Error(`the OpenAPI document has no ${type}`)
    return [...this.#at({ value: manifest, schema, keys: [], path: '' }, type, manifest)]
  }

  #resolve(schema: KubeSchema): { readonly schema: KubeSchema; readonly type: string } {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref
    if (reference === undefined) return { schema, type: schema.type ?? 'string' }
    const name = reference.split('/').at(-1) ?? ''
    return { schema: this.#schemas[name] ?? {}, type: name.split('.').at(-1) ?? '' }
  }

  *#at(place: Place, type: string, whole: unknown): Generator<Mutation> {
    const { value, schema, keys, path } = place
    const put = (what: string, below: Keys, next: unknown): Mutation => ({
      path: `${[path, ...below].join('.')} ${what}`,
      manifest: changed(whole, [...keys, ...below], next),
    })
    if (Array.isArray(value)) yield* this.#list({ ...place, value }, put, whole)
    else if (isRecord(value)) yield* this.#record({ ...place, value }, type, { put, whole })
    else for (const next of otherValues(value, schema)) yield put(`= ${String(next)}`, [], next)
  }

  *#list(
    { value, schema, keys, path }: Place & { readonly value: readonly unknown[] },
    put: (what: string, below: Keys, next: unknown) => Mutation,
    whole: unknown,
  ): Generator<Mutation> {
    const { schema: items, type } = this.#resolve(schema.items ?? {})
    for (const [index, each] of value.entries()) {
      yield put('removed', [index], undefined)
      const name = isRecord(each) && typeof each['name'] === 'string' ? each['name'] : index
      yield* this.#at({ value: each, schema: items, keys: [...keys, index], path: `${path}.${name}` }, type, whole)
    }
    const sample = manifestSamples[`${type}[]`]
    if (sample === undefined) this.missing.add(`${type}[]`)
    else yield put('longer', [], [...value, sample])
  }

  *#record(
    { value, schema, keys, path }: Place & { readonly value: Readonly<Record<string, unknown>> },
    type: string,
    { put, whole }: { readonly put: (what: string, below: Keys, next: unknown) => Mutation; readonly whole: unknown },
  ): Generator<Mutation> {
    for (const [key, each] of Object.entries(value)) {
      if (keys.length === 0 && this.#skipped.has(key)) continue
      yield put('removed', [key], undefined)
      const below = this.#resolve(schema.properties?.[key] ?? schema.additionalProperties ?? {})
      yield* this.#at(
        { value: each, schema: below.schema, keys: [...keys, key], path: `${path}.${key}` },
        below.type,
        whole,
      )
    }
    if (!schema.properties) yield put('added', ['added'], 'added')
    const skipped = keys.length === 0 ? this.#skipped : new Set()
    const absent = Object.keys(schema.properties ?? {}).filter((name) => !(name in value) && !skipped.has(name))
    for (const { key, sample } of this.#samplesOf(type, absent))
      yield put(`+ ${key}`, [], withField(value, key, { type, sample }))
  }

  #samplesOf(type: string, absent: readonly string[]) {
    return absent.flatMap((key) => {
      const sample = manifestSamples[`${type}.${key}`]
      if (sample === undefined) this.missing.add(`${type}.${key}`)
      return sample === undefined ? [] : [{ key, sample }]
    })
  }
}

const withField = (
  value: Readonly<Record<string, unknown>>,
  key: string,
  { type, sample }: { readonly type: string; readonly sample: unknown },
) => {
  const exclusive = exclusiveFields[type] ?? []
  const kept = Object.entries(value).filter(([name]) => !(exclusive.includes(key) && exclusive.includes(name)))
  return { ...Object.fromEntries(kept), [key]: sample }
}

const otherValues = (value: unknown, schema: KubeSchema): readonly unknown[] => {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1]
  if (schema.enum) return schema.enum.filter((each) => each !== value)
  return [`${String(value)}x`]
}
