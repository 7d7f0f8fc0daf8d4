import t from 'tap'
import { commands } from '#cli/commands.ts'
import { createCompletion } from '#cli/completion.ts'

const print = async (shell: string) => {
  let text = ''
  const outputs = { write: () => {}, note: () => {}, printEach: () => {} }
  const context = { env: {}, root: '/', stop: new AbortController().signal, ...outputs }
  const completion = createCompletion(commands)
  await completion.run({ ...context, print: (result) => void (text = result.text) }, { flags: {}, operands: [shell] })
  return text
}

t.test('completion: each shell has a script with every command and flag', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await print(shell)
    for (const word of ['account', 'set-plan', 'completion', 'allow-target', 'json']) t.match(script, word, shell)
  }
})

t.test('completion: an unknown shell is refused with the known ones', async (t) => {
  await t.rejects(print('tcsh'), { message: 'SHELL tcsh: must be one of bash, zsh, fish' })
})
