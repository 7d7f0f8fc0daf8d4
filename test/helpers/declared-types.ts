import { parseSync } from 'oxc-parser'

/** What a type admits: words of JSON (`string`, `null`, `array` …), or texts in quotes where only those are admitted. */
export type Admitted = ReadonlySet<string>

/** A field of an interface. */
export type DeclaredField = { readonly optional: boolean; readonly admits: Admitted }

type Node = { readonly type: string; readonly [name: string]: unknown }
type Named = { readonly name: string }
type Body = { readonly body: readonly Node[] }

const words: Readonly<Record<string, string>> = {
  TSStringKeyword: 'string',
  TSNumberKeyword: 'number',
  TSBooleanKeyword: 'boolean',
  TSNullKeyword: 'null',
  TSArrayType: 'array',
  TSTypeLiteral: 'object',
}

/**
 * The interfaces that a declaration file exports, with the fields of those that they extend; other names of types stand for
 * what their aliases say. Throws at a form of type that it does not know.
 */
export const declaredInterfaces = (text: string): Map<string, Map<string, DeclaredField>> => {
  const { program } = parseSync('declared.d.ts', text)
  const declarations = program.body.flatMap((node) => {
    const { declaration } = node as unknown as { declaration?: Node }
    return declaration ? [declaration] : []
  })
  const named = new Map(declarations.map((node) => [(node['id'] as Named | undefined)?.name ?? '', node]))

  const admitted = (node: Node): string[] => {
    if (node.type === 'TSUnionType') return (node['types'] as Node[]).flatMap(admitted)
    if (node.type === 'TSLiteralType') return [JSON.stringify((node['literal'] as { value: unknown }).value)]
    if (node.type === 'TSTypeReference') {
      const target = named.get((node['typeName'] as Named).name)
      return target?.type === 'TSTypeAliasDeclaration' ? admitted(target['typeAnnotation'] as Node) : ['object']
    }
    const word = words[node.type]
    if (word === undefined) throw new Error(`what does ${node.type} admit?`)
    return [word]
  }

  const fieldsOf = (node: Node): [string, DeclaredField][] => {
    const parents = ((node['extends'] as { expression: Named }[] | undefined) ?? []).flatMap(({ expression }) => {
      const parent = named.get(expression.name)
      return parent ? fieldsOf(parent) : []
    })
    const own = (node['body'] as Body).body.flatMap((field): [string, DeclaredField][] => {
      if (field.type !== 'TSPropertySignature') return []
      const { typeAnnotation } = field['typeAnnotation'] as { typeAnnotation: Node }
      const isJson = typeAnnotation.type !== 'TSTypeQuery'
      const admits = new Set(isJson ? admitted(typeAnnotation) : [])
      return [[(field['key'] as Named).name, { optional: field['optional'] === true, admits }]]
    })
    return [...parents, ...own]
  }

  return new Map(
    declarations
      .filter(({ type }) => type === 'TSInterfaceDeclaration')
      .map((node) => [(node['id'] as Named).name, new Map(fieldsOf(node))]),
  )
}
