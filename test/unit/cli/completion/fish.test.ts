import t from 'tap'
import { fishScript } from '#cli/completion/fish.ts'
import { describedCommands, runInShell } from '#test/helpers/completion-commands.ts'

const script = fishScript(describedCommands)
const folder = t.testdir({ 'file.txt': '' })
const offers = (line: string) =>
  runInShell('fish', `${script}\ncomplete -C 'shutterfleet ${line}'`, { args: ['--no-config'], cwd: folder })

const skip = (await runInShell('fish', 'true')) === undefined && 'fish is not installed'

t.test('fish: completes commands, their second words and their flags, with descriptions', { skip }, async (t) => {
  t.strictSame(await offers('r'), ["run\tdoes $(everything), it's `quick`"])
  t.strictSame(await offers('thing '), ['link\tlinks things', 'list\tlists things'])
  t.strictSame(await offers('run --n'), ['--name\thow "it" is: called'])
  t.strictSame(await offers('thing list --n'), [])
})

t.test('fish: completes paths after flags that take one', { skip }, async (t) => {
  t.match(await offers('run --folder fi'), ['file.txt'])
  t.strictSame(await offers('run --name fi'), [])
})

t.test('fish: each line completes the program', async (t) => {
  const lines = script.trimEnd().split('\n').slice(1)
  t.ok(lines.length > 10)
  t.ok(lines.every((line) => line.startsWith('complete -c shutterfleet -n ')))
})
