import t from 'tap'
import { UsageError } from '#cli/command/command.ts'
import { confirm } from '#cli/command/confirm.ts'

const question = { effect: 'erases account x', name: 'Acme' }
const answering = (answer: string) => {
  const asked: string[] = []
  const ask = async (text: string) => {
    asked.push(text)
    return answer
  }
  return { ask, asked }
}
const args = { flags: {}, operands: [] }

t.test('confirm: --yes confirms without a question', async (t) => {
  const { ask, asked } = answering('')
  await confirm({ ask }, { flags: { yes: true }, operands: [] }, question)
  t.strictSame(asked, [])
})

t.test('confirm: at a terminal the name has to be typed', async (t) => {
  const { ask, asked } = answering(' Acme\n')
  await confirm({ ask }, args, question)
  t.strictSame(asked, ['This erases account x. Type Acme to go on: '])
  for (const answer of ['', 'y', 'yes', 'acme']) {
    await t.rejects(confirm(answering(answer), args, question), { message: /Acme was not typed: nothing has changed/ })
  }
})

t.test('confirm: where nobody can be asked, the missing --yes is named', async (t) => {
  const asking = confirm({ ask: undefined }, args, question)
  await t.rejects(asking, { message: /^--yes is missing: this erases account x/ })
  t.ok((await asking.catch((error: unknown) => error)) instanceof UsageError)
})
