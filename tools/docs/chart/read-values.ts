import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'

/** A value of the chart, or a section of values. */
export type ChartValue = {
  readonly path: readonly string[]
  /** The comment above it; '' if there is none. */
  readonly help: string
  /** JSON Schema keywords after `@schema` in the comment. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly value: unknown
  /** The values of a section; undefined if this is a single value. */
  readonly values?: readonly ChartValue[]
}

const marker = '@schema'

const readComment = (comment: string) => {
  const lines = comment.split('\n').map((line) => line.trim())
  const [schema = '{}'] = lines.filter((line) => line.startsWith(marker)).map((line) => line.slice(marker.length))
  // Text before a blank line does not belong to this value.
  const help = lines.slice(lines.lastIndexOf('') + 1).filter((line) => !line.startsWith(marker))
  return { help: help.join(' '), schema: JSON.parse(schema) as ChartValue['schema'] }
}

const readPair = (pair: Pair, above: readonly string[], inherited: string): ChartValue => {
  if (!isScalar(pair.key)) throw new Error(`${above.join('.')}: a name that is no text`)
  const path = [...above, String(pair.key.value)]
  const value = (pair.value as { toJSON: () => unknown } | null)?.toJSON() ?? null
  const own = readComment(pair.key.commentBefore ?? inherited)
  const isOne = !isMap(pair.value) || pair.value.flow === true || 'additionalProperties' in own.schema
  if (isOne) return { path, ...own, value }
  return { path, ...own, value, values: readMap(pair.value as YAMLMap, path) }
}

/** The YAML parser attaches the comment above a section's first value to the section. */
const readMap = (map: YAMLMap, path: readonly string[]): ChartValue[] =>
  map.items.map((pair, index) => readPair(pair, path, index === 0 ? (map.commentBefore ?? '') : ''))

/** Parses a chart's values with their comments, in file order. Throws if a schema in a comment is not JSON. */
export const readValues = (text: string): readonly ChartValue[] => {
  const document = parseDocument(text)
  if (!isMap(document.contents)) throw new Error('the values are no map')
  const first = document.contents.commentBefore ?? document.commentBefore ?? ''
  return document.contents.items.map((pair, index) => readPair(pair, [], index === 0 ? first : ''))
}

/** All values without sections, flattened. */
export const listLeaves = (values: readonly ChartValue[]): readonly ChartValue[] =>
  values.flatMap((each) => (each.values ? listLeaves(each.values) : [each]))
