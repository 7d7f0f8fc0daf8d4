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

/** Offset of the first byte that JSON has no use for at its place; the length if the text ends too early. Does not look into strings. */
export const findJsonFault = (json: Buffer): number => {
  const text = json.toString('latin1')
  const open: string[] = []
  let state: State = 'value'
  for (let at = 0; at <= json.length;) {
    space.lastIndex = at
    space.test(text)
    at = word.lastIndex = space.lastIndex
    const token = scalar.test(word.exec(text)?.[0] ?? '') ? 'scalar' : (text[at] ?? '')
    const next: State | 'after' | undefined = rules[state][token]
    if (next === undefined) return at
    if (token === '{' || token === '[') open.push(token)
    if (token === '}' || token === ']') open.pop()
    if (token === 'scalar') at = word.lastIndex
    else at = (token === '"' ? endOfString(json, at) : at) + 1
    state = next === 'after' ? stateAfter(open) : next
  }
  return json.length
}
