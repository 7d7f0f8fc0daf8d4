import type { CommandTable } from '#cli/command/run-command.ts'
import { commands } from '#cli/commands.ts'

/** The text up to the bracket that closes its first one; empty if there is none. */
const firstObject = (text: string): string => {
  const from = text.indexOf('{')
  let depth = 0
  for (let at = from; at >= 0 && at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return text.slice(from + 1, at)
  }
  return ''
}

/** The fields of the first object in a shape such as `[{ id, name?: [{ … }] }]`; `…` is one of them if others may follow. */
export const fieldsIn = (shape: string): readonly { readonly name: string; readonly isOptional: boolean }[] => {
  let inner = firstObject(shape)
  // Removes the nested ones, from the innermost on.
  while (/[[{][^[\]{}]*[\]}]/.test(inner)) inner = inner.replaceAll(/[[{][^[\]{}]*[\]}]/g, '')
  return inner.split(',').flatMap((part) => {
    const [, name = '', optional] = /^\s*([\w…]+)(\?)?/.exec(part) ?? []
    return name === '' ? [] : [{ name, isOptional: optional !== undefined }]
  })
}

/** The commands of a table whose help does not name the fields of their JSON, but for those that print another protocol. */
export const undocumentedCommands = async (table: CommandTable, others: readonly string[]): Promise<string[]> => {
  const loaded = await Promise.all(Object.entries(table).map(async ([name, load]) => ({ name, ...(await load()) })))
  return loaded.flatMap(({ name, json }) => (others.includes(name) || fieldsIn(json).length > 0 ? [] : [name]))
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Differences of a document of `--json` from the shape in the help of its command. */
export const differencesFrom = (shape: string, document: unknown): string[] => {
  const isList = shape.startsWith('[')
  if (isList !== Array.isArray(document)) return [`is ${isList ? 'no' : 'a'} list`]
  const fields = fieldsIn(shape)
  const isOpen = fields.some(({ name }) => name === '…')
  return [document].flat().flatMap((each: unknown) => {
    if (!isRecord(each)) return ['is no object']
    const missing = fields.filter(({ name, isOptional }) => !isOptional && name !== '…' && !(name in each))
    const unknown = Object.keys(each).filter((name) => !isOpen && !fields.some((field) => field.name === name))
    return [...missing.map(({ name }) => `lacks ${name}`), ...unknown.map((name) => `has ${name}`)]
  })
}

/** The document that a command of `bin/shutterfleet` printed. Throws if its fields are not those in the help of the command. */
export const readDocument = async <T>(words: readonly string[], output: string): Promise<T> => {
  const document = JSON.parse(output) as T
  const load = commands[words.slice(0, 2).join(' ')] ?? commands[words[0] ?? '']
  const differences = load ? differencesFrom((await load()).json, document) : ['is of no command']
  if (differences.length > 0) throw new Error(`the JSON of ${words.join(' ')} ${differences.join(', ')}`)
  return document
}
