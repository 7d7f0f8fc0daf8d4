import t from 'tap'
import { splitFrontMatter } from '#worker/browser-host/capture/load/markdown/front-matter.ts'

t.test('front matter: YAML at the very start is separated from the text', async (t) => {
  const source =
    '---\r\ntitle: 007\nlanguage: de\nauthor: [Ann, Ben]\ntags: [a, 2]\nlayout: {a: b}\n---\r\n# Text\n---\n'
  t.strictSame(splitFrontMatter(source), {
    matter: { title: '007', language: 'de', metas: { author: 'Ann, Ben', keywords: 'a, 2' } },
    text: '# Text\n---\n',
  })
  t.strictSame(splitFrontMatter('---\ntitle: a\n...').text, '')
})

t.test('front matter: text that is not a YAML mapping stays text', async (t) => {
  const deep = 'a: '.concat('['.repeat(5000))
  const bomb = `a: &a [x, x]\n${Array.from('bcdefgh', (name, index) => `${name}: &${name} [${`*${'abcdefg'[index]}, `.repeat(9)}]`).join('\n')}`
  for (const yaml of ['text', '- a', 'a: [', '*a', deep, bomb, `a: ${'x'.repeat(10_000)}`]) {
    const source = `---\n${yaml}\n---\ntext`
    t.strictSame(splitFrontMatter(source), { matter: { metas: {} }, text: source }, yaml.slice(0, 20))
  }
  for (const source of ['\n---\na: b\n---\n', 'x\n---\na: b\n---\n', '---\na: b', '----\na: b\n---\n'])
    t.strictSame(splitFrontMatter(source).text, source)
})
