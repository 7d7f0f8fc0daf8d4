import t from 'tap'
import { blockYaml, type Json } from '#shared/kube/block-yaml.ts'

const leaf = (value: Json) => blockYaml({ of: value }).replace(/^of: /, '').replace(/\n$/, '')
const long = 'a sentence that goes on '.repeat(6).trim()

t.test('block yaml: writes objects and lists as blocks, in the given order', (t) => {
  const value = { b: { c: [1, { d: true, e: ['x', null] }, ['u', ['v', 'w']]] }, a: {}, f: [] }
  const text = [
    'b:',
    '  c:',
    '    - 1',
    '    - d: true',
    '      e:',
    '        - x',
    '        - null',
    '    - - u',
    '      - - v',
    '        - w',
    'a: {}',
    'f: []',
    '',
  ]
  t.equal(blockYaml(value), text.join('\n'))
  t.equal(blockYaml(value), blockYaml(structuredClone(value)))
  t.end()
})

t.test('block yaml: leaves plain what everybody reads as the same text', (t) => {
  const plain = [
    'x',
    'two words',
    '.spec.replicas',
    '^[a-z]+(-[a-z]+)*$',
    "self.all(key, !(key in ['a']))",
    'a:b',
    'a#b',
  ]
  for (const text of plain) t.equal(leaf(text), text)
  t.end()
})

t.test('block yaml: quotes what some reader takes for something else', (t) => {
  const words = [
    '',
    'yes',
    'NO',
    'On',
    'y',
    'true',
    'null',
    '~',
    '.inf',
    '.NaN',
    '1',
    '-1',
    '0x1f',
    '1e3',
    '.5',
    '12:30',
    '2026-11-20',
  ]
  const marks = [
    '- a',
    '? a',
    '&a',
    '*a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a`',
    '"a"',
    "'a'",
    '#a',
    '{a}',
    '[a]',
    '---',
    '...',
    '=',
    '<<',
    ',',
  ]
  const insides = ['a: b', 'a:', 'a #b', ' a', 'a ', 'has(a) ? b : c']
  for (const text of [...words, ...marks, ...insides]) t.equal(leaf(text), JSON.stringify(text))
  t.equal(blockYaml({ 'a: b': 1, yes: 2, 'a/b': 3 }), '"a: b": 1\n"yes": 2\na/b: 3\n')
  t.end()
})

t.test('block yaml: escapes what YAML does not take, and nothing else', (t) => {
  t.equal(leaf('a\nb\t"c"\\'), '"a\\nb\\t\\"c\\"\\\\"')
  t.equal(leaf('\u0000\u007f\u0085\u2028\ufeff\uffff'), '"\\u0000\\u007f\\u0085\\u2028\\ufeff\\uffff"')
  t.equal(leaf('größer ≥ 😀'), '"größer ≥ 😀"')
  t.end()
})

t.test('block yaml: folds long sentences at spaces, and only where folding gives back the text', (t) => {
  const lines = blockYaml({ of: [long] }).split('\n')
  t.equal(lines[1], '  - >-')
  t.ok(lines.every((line) => line.length <= 104))
  t.equal(
    lines
      .slice(2)
      .map((line) => line.trim())
      .join(' ')
      .trim(),
    long,
  )
  for (const text of [`${long}  twice`, `${long}\nline`, ` ${long}`, `${long} ü`]) t.notMatch(leaf(text), />-/)
  t.match(leaf('x'.repeat(200)), /^x{200}$/)
  t.end()
})

t.test('block yaml: throws for what cannot be written', (t) => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 'half \ud800']) t.throws(() => leaf(value))
  t.end()
})
