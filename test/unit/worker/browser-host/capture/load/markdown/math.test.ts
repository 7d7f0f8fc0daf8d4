import t from 'tap'
import { markdownPage } from '#worker/browser-host/capture/load/markdown/page.ts'

const html = (source: string) => markdownPage(source).html
const main = (source: string) => /<main>(?<text>[^]*)<\/main>/.exec(html(source))?.groups?.['text'] ?? ''
/** How many formulas of a page are rendered, in lines and displayed. */
const rendered = (source: string) => {
  const displayed = main(source).split('class="katex-display"').length - 1
  return { inline: main(source).split('class="katex"').length - 1 - displayed, displayed }
}

t.test('math: dollars around a formula are math, dollars before amounts are money', async (t) => {
  for (const source of ['$x$', 'a $x_1 + y$, b', '($x$)', '$a\\$b$', '*$x$*', '| $x$ |\n| - |'])
    t.strictSame(rendered(source), { inline: 1, displayed: 0 }, source)
  for (const source of ['$5 and $10', '$5-$10', 'US$5 or US$6', '$ x $', '\\$x$', '`$x$`', '$$', 'a$x$b', '$x\ny$'])
    t.strictSame(rendered(source), { inline: 0, displayed: 0 }, source)
})

t.test('math: two dollars, a block of them or a fence display a formula', async (t) => {
  for (const source of ['$$x$$', 'a $$x$$ b', '$$\nx\n\ny\n$$', '> $$\n> x\n> $$', '- $$x\n  y$$', '```math\nx\n```'])
    t.strictSame(rendered(source), { inline: 0, displayed: 1 }, source)
  t.strictSame(rendered('$$x$$ text $$y$$'), { inline: 0, displayed: 2 })
  for (const source of ['$$\nx', `$$\n\n${'x\n'.repeat(100)}$$`])
    t.strictSame(rendered(source), { inline: 0, displayed: 0 }, 'without its end within 100 lines')
})

t.test(
  'math: formulas of up to 2,000 characters are rendered, and 20,000 in one page; others are shown as text',
  async (t) => {
    const formula = (characters: number) => `$${'x'.repeat(characters)}$\n\n`
    t.strictSame(rendered(formula(2000).repeat(10) + formula(1)), { inline: 10, displayed: 0 })
    t.strictSame(rendered(formula(2001) + formula(1)), { inline: 1, displayed: 0 })
    t.match(main(formula(2001)), /<code>x{2001}<\/code>/)
  },
)

t.test('math: a mistake is shown in its place, and no command loads, links or runs anything', async (t) => {
  t.match(main('a $\\nope{<b>}$ b'), /\\nope.*&lt;/)
  t.match(main(`$${'{'.repeat(1000)}x$`), /\{{10}/, 'too deep')
  const commands = ['\\href{javascript:a()}{x}', '\\includegraphics{//a}', '\\htmlStyle{color:red}{x}', '\\url{//a}']
  for (const command of commands) t.notMatch(main(`$${command}$`), /href=|<img|style="color:red"/, command)
  t.match(main('$\\def\\a{xx\\a}\\a$'), 'katex-error', 'an endless macro')
  t.match(main('$\\rule{9999em}{1em}$'), 'width:20em', 'at most 20 em wide')
})

t.test('math: a page brings the style and fonts of its math, and none without math', async (t) => {
  t.match(html('$x$'), /font-family:"?KaTeX_Main"?;[^}]*src:url\(data:font\/woff2;base64,/)
  t.notMatch(html('$x$'), 'url(fonts/', 'nothing is loaded from elsewhere')
  t.notMatch(html('x'), 'KaTeX')
})
