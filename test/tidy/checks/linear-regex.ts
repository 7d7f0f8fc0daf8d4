import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkSync } from 'recheck'
import { type Finding, root, type SourceFile } from '#test/tidy/source.ts'
import { findingOn, nodesIn, type SyntaxNode } from '#test/tidy/syntax.ts'

// In this process, not by recheck's platform binaries.
process.env['RECHECK_SYNC_BACKEND'] = 'pure'

const rule = 'linear-regex'
/** Bound on the processor time of a proof, which takes milliseconds to seconds. */
const proofMs = 60_000

/** Expressions that cannot be proven within seconds. Their input is short, and from the operator or this project. */
const exceptions: Readonly<Record<string, string>> = {
  '\\/+$': 'an address in the configuration of a service or of a client',
  '^(?<id>[\\w-]{1,32}):(?<secret>[A-Za-z0-9+/]+={0,2})$': 'a setting',
  '-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----': 'a file that a setting names',
  '^-+|-+$': 'names of Kubernetes objects, at most 253 characters',
  '-+$': 'a name that was cut at 54 characters',
  '^(NotoSansCJK-Regular|wqy-.*)\\.ttc$': 'names of fonts of this machine',
  'apiGroups: \\[(.*)\\]\\n\\s+resources: \\[(.*)\\]\\n\\s+verbs: \\[(.*)\\]': 'a manifest of this repository',
  '^inline; filename="[0-9a-f-]{36}\\.[a-z]+"$': 'a header in the document of the interface',
  '^(?![^]*(: | #))(?:[A-Za-z$^(/]|\\.[A-Za-z])[\\u0020-\\u007e]*(?<![ :])$': 'schemas of this repository',
}

type Expression = { readonly source: string; readonly flags: string; readonly node: SyntaxNode }

/** A schema pattern is a string anchored at both ends, or one under `pattern`. */
const patternIn = (node: SyntaxNode): string | undefined => {
  if (node.type === 'Literal' && typeof node.value === 'string' && /^\^.+\$$/.test(node.value)) return node.value
  if (node.type !== 'Property' || node.key.type !== 'Identifier' || node.key.name !== 'pattern') return undefined
  return node.value.type === 'Literal' && typeof node.value.value === 'string' ? node.value.value : undefined
}

const expressionIn = (node: SyntaxNode): Expression | undefined => {
  if (node.type === 'Literal' && 'regex' in node) {
    return { source: node.regex.pattern, flags: node.regex.flags, node }
  }
  const source = patternIn(node)
  return source === undefined ? undefined : { source, flags: 'u', node }
}

const isPutTogether = (node: SyntaxNode): boolean =>
  (node.type === 'NewExpression' || node.type === 'CallExpression') &&
  node.callee.type === 'Identifier' &&
  node.callee.name === 'RegExp'

/** Caches proofs: an empty file for each expression, removed with the packages. */
const proofs = join(root, 'node_modules/.cache/linear-regex')

const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Proves an expression. recheck's clock is the processor time of this process: on a busy machine a proof takes no more of it. */
const prove = (source: string, flags: string) => {
  performance.now = processorMs
  try {
    return checkSync(source, flags, { checker: 'automaton', timeout: proofMs }).status
  } finally {
    // That of the prototype again.
    Reflect.deleteProperty(performance, 'now')
  }
}

/** Why an expression is not proven to take linear time; undefined if it is. */
const doubtOf = (source: string, flags: string): string | undefined => {
  const name = `/${source}/${flags}`
  const proof = join(proofs, createHash('sha256').update(name).digest('hex'))
  if (existsSync(proof)) return undefined
  const status = prove(source, flags)
  if (status === 'vulnerable') return `${name} is not linear`
  if (status !== 'safe') return `${name} is perhaps not linear: no proof within ${proofMs / 1000} s of processor time`
  mkdirSync(proofs, { recursive: true })
  writeFileSync(proof, '')
  return undefined
}

/** Every regular expression of services and clients, patterns of schemas included, is proven to take linear time by recheck. */
export const linearRegex = (files: readonly SourceFile[]): Finding[] =>
  files
    .filter(({ path }) => /^(services|clients)\/.*\.[jt]s$/.test(path))
    .flatMap((file) =>
      nodesIn(file).flatMap((node) => {
        if (isPutTogether(node)) return [findingOn(file, node, rule, 'an expression is written as one literal')]
        const found = expressionIn(node)
        const doubt = found && !exceptions[found.source] && doubtOf(found.source, found.flags)
        return doubt ? [findingOn(file, node, rule, doubt)] : []
      }),
    )
