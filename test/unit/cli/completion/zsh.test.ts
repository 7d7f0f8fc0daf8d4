import t from 'tap'
import { zshScript } from '#cli/completion/zsh.ts'
import { describedCommands, runInShell } from '#test/helpers/completion-commands.ts'

const script = zshScript(describedCommands)

/** What zsh offers for the last of the words; its own functions print. */
const offers = (...words: string[]) => {
  const typed = words.map((word) => `'${word}'`).join(' ')
  const own = `compdef() { :; }\n_files() { print files; }\n_describe() { print -rl -- $offers; }`
  const complete = `words=(shutterfleet ${typed}); CURRENT=${words.length + 1}; _shutterfleet || true`
  return runInShell('zsh', `${own}\n${script}\n${complete}`, { args: ['-f', '-e'] })
}

const skip = (await runInShell('zsh', 'true')) === undefined && 'zsh is not installed'

t.test('zsh: offers commands, their second words and their flags, with descriptions', { skip }, async (t) => {
  t.strictSame(await offers(''), ["run:does $(everything), it's `quick`", 'thing:thing commands'])
  t.strictSame(await offers('thing', ''), ['link:links things', 'list:lists things'])
  const flags = (await offers('run', '-'))?.map((line) => line.split(':')[0])
  t.strictSame(flags, ['--folder', '--help', '--json', '--name', '--quick', '-h', '-n'])
})

t.test('zsh: offers paths for operands and after flags that take one', { skip }, async (t) => {
  t.strictSame(await offers('run', ''), ['files'])
  t.strictSame(await offers('run', '--folder', ''), ['files'])
  t.strictSame(await offers('run', '--name', ''), [])
})

t.test('zsh: is loaded by the line that completion systems read', async (t) => {
  t.match(script, /^#compdef shutterfleet\n[^]*\ncompdef _shutterfleet shutterfleet\n$/)
})
