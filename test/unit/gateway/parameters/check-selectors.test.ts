import { array, assert, constantFrom, property } from 'fast-check'
import t from 'tap'
import { checkSelectors, isSelector } from '#gateway/parameters/check-selectors.ts'
import { collectErrors } from '#shared/capture/validation-errors.ts'

const selectors = [
  'h1',
  '*',
  ' #settled ',
  'my-element.a.b#c',
  'a > b + c ~ d e',
  'a>b,c , d',
  'ul li:first-child::before',
  'a[href]',
  '[data-x="a ] > \\" b" i]',
  "a[ href ^= 'https:' ][rel~=x]",
  '[a=b s]',
  ':is(.a, .b):not([x="("]) > :nth-child(2n + 1 of .a)',
  ':has(> img)',
  ':lang("en", de)',
  'a:hover::part(label)',
  '*|a',
  '|a[*|href]',
  String.raw`.sm\:w-1\/2`,
  String.raw`#\31 23`,
  String.raw`[a=\31 b]`,
  '--x',
  '-x_1',
  'größe.😀',
  '#first.even:last-child:first-of-type',
  ':is([title=":text(1)"])',
  '.--active',
  ':NTH-CHILD(EVEN)',
  'li:nth-child(2n + 1 of .a, .b)',
  ':-webkit-any(a:not(.b), c)',
  'dialog:popover-open::backdrop',
]

const others = [
  '',
  ' ',
  'h1 >> text=ok',
  'h1>>b',
  '> a',
  '+ a',
  ', a',
  'a,',
  'a,,b',
  'a >',
  'a > > b',
  '##a',
  '#1a',
  '.1',
  'a..b',
  'a#',
  'a[',
  'a[b',
  'a]',
  'a[b=]',
  'a[b=1]',
  'a["b"]',
  'a[b="c]',
  ':is(a',
  ':is(a]',
  ':is(a))',
  ':is("a)',
  'a:',
  'a:::b',
  '.a*',
  '[a]b',
  ':hover a|',
  'svg|a',
  '*|.a',
  '"text"',
  'text=ok',
  '//div',
  'xpath=//div',
  'a { color: red }',
  'a:has-text("b")',
  'a:text(b)',
  ':TEXT-IS("b")',
  'a:visible',
  ':is(a:has-text("b"))',
  ':nth-match(a, 1)',
  'tr:eq(1)',
  'a:contains(b)',
  'a\\',
]

for (const selector of selectors) {
  t.test(`selector: accepts ${selector}`, async (t) => t.equal(isSelector(selector), true))
}
for (const selector of others) {
  t.test(`selector: rejects ${JSON.stringify(selector)}`, async (t) => t.equal(isSelector(selector), false))
}

// A backtracking parser tries every way to divide these: the first blocked a process indefinitely.
const hostile = [
  String.raw`\111111`,
  String.raw`\61 `,
  '[a="',
  ':is(',
  ':not(:',
  ':nth-child(1 of ',
  ' > ',
  '-',
  ':',
  '/*',
  '"',
  "'\\",
]

for (const part of hostile) {
  t.test(`selector: parses ${JSON.stringify(part)} repeated to the maximum length`, async (t) => {
    for (const last of ['', '!', ')', ']', '"']) {
      for (const before of ['', '[a=', ':is(']) {
        const text = `${before}${part.repeat(500)}`.slice(0, 499)
        t.type(isSelector(`${text}${last}`), 'boolean')
      }
    }
  })
}

t.test('selector: no text makes the parser throw', async () => {
  const characters = 'ab#.:[]()"\'\\*|>+~, =^$-_1é\n'.split('')
  const part = constantFrom(...characters, 'of', '::', 'not(', 'nth-child(', '2n+1')
  assert(
    property(array(part, { maxLength: 80 }), (parts) => typeof isSelector(parts.join('')) === 'boolean'),
    { numRuns: 5000 },
  )
})

t.test('check selectors: skips a list with too many selectors, and a selector that is too long', async (t) => {
  const hidden = ['a', 'b >']
  const one = collectErrors()
  checkSelectors({ hide_selectors: hidden, selector: '!' }, one)
  t.same(one.all(), { 'hide_selectors.1': ['must be a CSS selector'], selector: ['must be a CSS selector'] })
  const known = { hide_selectors: ['must be a list of at most 20 entries'], selector: ['must be shorter'] }
  const other = collectErrors(known)
  checkSelectors({ hide_selectors: hidden, selector: '!' }, other)
  t.same(other.all(), known)
})
