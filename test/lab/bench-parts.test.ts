import t from 'tap'
import { madeBy, replacePart } from '#test/bench/page.ts'
import { runParts, runProgram } from '#test/bench/run-parts.ts'
import { implausible } from '#test/helpers/implausible.ts'

const page = '# Benchmarks\n\n## One\n\nold\n\n## Two\n\nkept\n'

t.test('bench: one part of the page is replaced, and the others stay', (t) => {
  t.equal(replacePart(page, 'One', 'new\n'), '# Benchmarks\n\n## One\n\nnew\n\n## Two\n\nkept\n')
  t.equal(replacePart(page, 'Two', 'new'), '# Benchmarks\n\n## One\n\nold\n\n## Two\n\nnew\n')
  t.throws(() => replacePart(page, 'Three', 'new'), /has no part "Three"/)
  t.end()
})

t.test('bench: each part names command, day, commit and machine', (t) => {
  t.match(
    madeBy('bench', 'Chromium 1'),
    /^Made by `make bench` on \d{4}-\d\d-\d\d at [0-9a-f]{7,}( with changes)?: \d+ × .*, \d+ GiB, Node v[\d.]+, Chromium 1\.$/,
  )
  t.end()
})

const written: string[] = []
const write = (heading: string, text: string) => void written.push(`${heading}: ${text}`)
const parts = {
  one: { heading: 'One', measure: async () => '1' },
  two: { heading: 'Two', measure: () => Promise.reject(new Error('broken')) },
  three: { heading: 'Three', measure: async () => '3' },
}
t.beforeEach(() => void written.splice(0))
const footer = 'Made.'

t.test('bench: a part that fails is named, and those before and after it are written', async (t) => {
  t.strictSame(await runParts({ parts, names: [], footer }, write), ['two'])
  t.strictSame(written, ['One: Made.\n\n1\n', 'Three: Made.\n\n3\n'])
})

t.test('bench: single parts can be named, and unknown ones are refused', async (t) => {
  t.strictSame(await runParts({ parts, names: ['three'], footer }, write), [])
  t.strictSame(written, ['Three: Made.\n\n3\n'])
  await t.rejects(runParts({ parts, names: ['four'], footer }, write), { message: 'four is none of one, two, three' })
})

t.test('bench: a program with a part that fails ends with 1', async (t) => {
  t.teardown(() => void (process.exitCode = undefined))
  await runProgram({ parts, names: ['one'], footer }, write)
  t.not(process.exitCode, 1)
  await runProgram({ parts, names: [], footer }, write)
  t.equal(process.exitCode, 1)
  process.exitCode = undefined
})

t.test('bench: implausible numbers are found wherever they are', (t) => {
  t.strictSame(implausible({ a: [1, { b: NaN }], c: Infinity, d: -1, e: 0, f: new Map([['g', 0]]) }), [
    'a.1.b = NaN',
    'c = Infinity',
    'd = -1',
    'e = 0',
    'f.g = 0',
  ])
  t.strictSame(implausible({ cost: 0, rate: 0 }, /cost/), ['rate = 0'])
  t.strictSame(implausible({ cost: -1 }, /cost/), ['cost = -1'])
  t.strictSame(implausible([]), ['no number'])
  t.strictSame(implausible({ a: 1, b: 'text', c: undefined }), [])
  t.end()
})
