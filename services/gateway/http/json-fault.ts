const quote = 0x22
const backslash = 0x5c

/** Index of the closing quote of the string that starts at `start`; the length of `json` if there is none. */
export const endOfString = (json: Buffer, start: number): number => {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === quote) return at
    if (json[at] === backslash) at += 1
  }
  return json.length
}

const space = /[ \t\n\r]*/y
const word = /[\w.+-]*/y
const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

type State = 'value' | 'firstValue' | 'name' | 'firstName' | 'colon' | 'afterEntry' | 'afterMember' | 'end'

const value = { '{': 'firstName', '[': 'firstValue', '"': 'after', scalar: 'after' } as const

/** What may come in each state, and the state after it; `after` depends on what is open. */
const rules: Readonly<Record<State, Readonly<Record<string, State | 'after'>>>> = {
  value,
  firstValue: { ...value, ']': 'after' },
  name: { '"': 'colon' },
  firstName: { '"': 'colon', '}': 'after' },
  colon: { ':': 'value' },
  afterEntry: { ',': 'value', ']': 'after' },
  afterMember: { ',': 'name', '}': 'after' },
  end: {},
}

const stateAfter = (open: readonly string[]): State => {
  if (open.length === 0) return 'end'
  return open.at(-1) === '{' ? 'afterMember' : 'afterEntry'
}

/** The token after spaces at `from`, by its first character or as `scalar`, empty at the end; and the offset after it. */
const readToken = (json: Buffer, text: string, from: number) => {
  space.lastIndex = from
  space.test(text)
  const at = (word.lastIndex = space.lastIndex)
  if (scalar.test(word.exec(text)?.[0] ?? '')) return { token: 'scalar', at, after: word.lastIndex }
  const token = text[at] ?? ''
  return { token, at, after: (token === '"' ? endOfString(json, at) : at) + 1 }
}

/** Offset of the first byte that JSON has no use for at its place; the length if the text ends too early. Does not look into strings. */
export const findJsonFault = (json: Buffer): number => {
  const text = json.toString('latin1')
  const open: string[] = []
  let state: State = 'value'
  for (let from = 0; from <= json.length;) {
    const { token, at, after } = readToken(json, text, from)
    const next: State | 'after' | undefined = rules[state][token]
    if (next === undefined) return at
    if (token === '{' || token === '[') open.push(token)
    if (token === '}' || token === ']') open.pop()
    state = next === 'after' ? stateAfter(open) : next
    from = after
  }
  return json.length
}
