import t from 'tap'
import { markdownPage } from '#worker/browser-host/capture/load/markdown/page.ts'

/** The text of a page, rendered. */
const main = (source: string) => /<main>(?<text>[^]*)<\/main>/.exec(markdownPage(source).html)?.groups?.['text'] ?? ''

/** A fence of code with this many characters. */
const fence = (characters: number) => `\`\`\`js\n${'const a\n'.repeat(characters / 8)}\`\`\`\n\n`
/** Which of a page's fences are highlighted. */
const highlighted = (source: string) =>
  main(source)
    .split('<pre>')
    .slice(1)
    .map((block) => block.includes('hljs-'))

// The highlighter takes time by the square of the size of some code: see how little it gets, not how long that takes.
t.test('markdown page: highlights fences of up to 10,000 characters, and 50,000 in one page', async (t) => {
  t.strictSame(highlighted(fence(8) + fence(10_000) + fence(10_008) + fence(8)), [true, true, false, true])
  t.strictSame(highlighted(fence(10_000).repeat(6) + fence(8)), [true, true, true, true, true, false, false])
  t.strictSame(highlighted(fence(10_000)), [true], 'each page has its own bound')
  t.match(main(fence(10_008)), /<code class="language-js">const a/, 'the code itself is shown')
})

t.test('markdown page: headings have the ids that GitHub gives them, numbered if they repeat', async (t) => {
  const ids = (source: string) => [...main(source).matchAll(/<h\d id="(?<id>[^"]*)"/g)].map((match) => match[1])
  t.strictSame(ids('# Set *up* `it`, now!\n## Größe & Maß\n# A\n# A\nB\n='), [
    ...['set-up-it-now', 'größe--maß', 'a', 'a-1', 'b'],
  ])
})

t.test('markdown page: alerts, footnotes and emoji are as on GitHub; a smiley stays text', async (t) => {
  t.match(main('> [!TIP]\n> Do *it*'), /<div class="markdown-alert markdown-alert-tip"><p.*<svg.*Tip<\/p><p>Do <em>it/)
  t.match(main('> [!OTHER]\n> text'), '<blockquote>')
  t.match(main('a[^n]\n\n[^n]: note'), /<sup class="footnote-ref">[^]*<li id="fn1" class="footnote-item"><p>note/)
  t.match(main(':rocket: :no-such: :) `:tada:`'), '🚀 :no-such: :) <code>:tada:</code>')
})

t.test('markdown page: the title is that of the front matter, else the first heading of the first level', async (t) => {
  const title = (source: string) => /<title>(?<title>.*)<\/title>/.exec(markdownPage(source).html)?.[1]
  t.equal(title('## Two\n# One & *all*\n# Next'), 'One &amp; all')
  t.equal(title('---\ntitle: <b>\n---\n# One'), '&lt;b&gt;')
  t.equal(title('text'), '')
  const { html } = markdownPage("---\nlang: 'd\"e'\ndescription: '\"><script>'\n---\ntext")
  t.match(html, '<html lang="d&quot;e">')
  t.match(html, '<meta name="description" content="&quot;&gt;&lt;script&gt;">')
})

t.test(
  'markdown page: raw HTML keeps text, structure and pictures; what runs, loads a document or takes input goes',
  async (t) => {
    t.equal(
      main('<svg onload="a()"><path d="M0 0"/><script>a()</script><image href="//a"/></svg>').trim(),
      '<p><svg><path d="M0 0"></path></svg></p>',
    )
    t.equal(main('> [!NOTE] <img src=x onerror=a()>\n> text').includes('onerror'), false, 'in the title of an alert')
    t.equal(main('```mermaid\n<img src=x onerror=a()>\n```').includes('<img'), false)
  },
)

t.test('markdown page: only a page with diagrams gets the script that draws them', async (t) => {
  t.equal(markdownPage('```js\nmermaid\n```').script, undefined)
  t.match(markdownPage('> ```mermaid\n> graph LR\n> ```').script, 'mermaid.render')
})

t.test('markdown page: only what is longer than any word may break inside, in tables too', async (t) => {
  const word = 'internationalisation'
  const address = `https://example.com/${'a<'.repeat(30)}`
  const html = main(`| ${word} | \`${'k'.repeat(90)}\` |\n| - | - |\n| ${word} | \`${address}\` |`)
  t.match(html, `<td>${word}</td>`)
  t.match(html, `<code>${'k'.repeat(40)}<wbr></wbr>${'k'.repeat(40)}<wbr></wbr>${'k'.repeat(10)}</code>`)
  t.equal(html.split('<wbr></wbr>').length, 4)
  t.notMatch(markdownPage('a').html, /table \{[^}]*overflow-wrap/)
})
