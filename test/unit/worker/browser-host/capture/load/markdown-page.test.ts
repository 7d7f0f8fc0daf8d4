import t from 'tap'
import { markdownPage } from '#worker/browser-host/capture/load/markdown-page.ts'

/** A fence of code with this many characters. */
const fence = (characters: number) => `\`\`\`js\n${'const a\n'.repeat(characters / 8)}\`\`\`\n\n`
/** Which of a page's fences are highlighted. */
const highlighted = (source: string) =>
  markdownPage(source)
    .split('<pre>')
    .slice(1)
    .map((block) => block.includes('hljs-'))

// The highlighter takes time by the square of the size of some code: see how little it gets, not how long that takes.
t.test('markdown page: highlights fences of up to 10,000 characters, and 50,000 in one page', async (t) => {
  t.strictSame(highlighted(fence(8) + fence(10_000) + fence(10_008) + fence(8)), [true, true, false, true])
  t.strictSame(highlighted(fence(10_000).repeat(6) + fence(8)), [true, true, true, true, true, false, false])
  t.strictSame(highlighted(fence(10_000)), [true], 'each page has its own bound')
  t.match(markdownPage(fence(10_008)), /<code class="language-js">const a/, 'the code itself is shown')
})
