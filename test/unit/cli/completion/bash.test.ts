import t from 'tap'
import { bashScript } from '#cli/completion/bash.ts'
import { describedCommands, runInShell } from '#test/helpers/completion-commands.ts'

const script = bashScript(describedCommands)
const folder = t.testdir({ 'file.txt': '' })

/** What bash offers for the last of the words. */
const offers = (...words: string[]) => {
  const typed = words.map((word) => `'${word}'`).join(' ')
  const complete = `COMP_WORDS=(shutterfleet ${typed}); COMP_CWORD=${words.length}; _shutterfleet`
  return runInShell('bash', `set -u\n${script}\n${complete}\nprintf '%s\\n' "\${COMPREPLY[@]-}"`, { cwd: folder })
}

t.test('bash: completes commands, their second words and their flags', async (t) => {
  t.strictSame(await offers(''), ['run', 'thing'])
  t.strictSame(await offers('th'), ['thing'])
  t.strictSame(await offers('thing', ''), ['link', 'list'])
  t.strictSame(await offers('thing', 'lin'), ['link'])
  t.strictSame(await offers('run', '--'), ['--folder', '--help', '--json', '--name', '--quick'])
  t.strictSame(await offers('thing', 'link', '--n'), ['--name'])
  t.strictSame(await offers('thing', 'list', '--n'), [])
  t.strictSame(await offers('nothing', '--'), [])
})

t.test('bash: completes paths after flags that take one, and nothing after other flags with a value', async (t) => {
  t.strictSame(await offers('run', '--folder', 'fi'), ['file.txt'])
  t.strictSame(await offers('run', '--name', 'fi'), [])
  t.strictSame(await offers('run', '-n', ''), [])
  t.strictSame(await offers('run', ''), [], 'bash itself completes the operand')
})

t.test('bash: registers the completion by the name of the program', async (t) => {
  const registered = await runInShell('bash', `${script}\ncomplete -p shutterfleet`)
  t.strictSame(registered, ['complete -o bashdefault -o default -F _shutterfleet shutterfleet'])
})
