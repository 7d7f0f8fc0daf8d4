import t from 'tap'
import { indent } from '#console/views/playground/indent.ts'

/** Applies Tab or Shift+Tab to a text in which brackets enclose the selection. */
const press = (marked: string, direction: 'in' | 'out') => {
  const [start, end] = [marked.indexOf('['), marked.indexOf(']') - 1]
  const text = marked.replaceAll(/[[\]]/g, '')
  const edit = indent(text, { start, end }, direction)
  const after = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  const [from, to] = edit.selection
  return `${after.slice(0, from)}[${after.slice(from, to)}]${after.slice(to)}`
}

t.test('indent: Tab inserts two spaces at the caret, or instead of what is selected in a line', async (t) => {
  t.equal(press('a[]b', 'in'), 'a  []b')
  t.equal(press('a[bc]d', 'in'), 'a  []d')
  t.equal(press('[]', 'in'), '  []')
})

t.test('indent: several lines are moved together, and stay selected', async (t) => {
  t.equal(press('x\na[b\nc]d\ny', 'in'), 'x\n  a[b\n  c]d\ny')
  t.equal(press('x\n  a[b\n  c]d\ny', 'out'), 'x\na[b\nc]d\ny')
  t.equal(press('[  a\n b\n\tc\nd]', 'out'), '[a\nb\nc\nd]')
  t.equal(press('[a\nb\n]c', 'in'), '  [a\n  b\n]c', 'without the line at which the selection ends')
})

t.test('indent: Shift+Tab moves the line of the caret out by up to two spaces', async (t) => {
  t.equal(press('    a[]', 'out'), '  a[]')
  t.equal(press(' a[]', 'out'), 'a[]')
  t.equal(press('a\n [] b', 'out'), 'a\n[]b')
  t.equal(press('a[]', 'out'), 'a[]')
  t.equal(press('a\n[]  \nb', 'out'), 'a\n[]\nb')
})
