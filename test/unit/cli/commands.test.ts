import t from 'tap'
import type { Command } from '#cli/command/command.ts'
import { commandHelp } from '#cli/command/help.ts'
import { commands } from '#cli/commands.ts'
import { differencesFrom, fieldsIn, undocumentedCommands } from '#test/helpers/documented-json.ts'

/** Commands whose output is a protocol of its own. */
const protocols = ['mcp']

t.test('commands: the help of each command names the fields of its JSON', async (t) => {
  t.strictSame(await undocumentedCommands(commands, protocols), [])
  const planted: Command = { usage: 'thing list', summary: '', json: '', flags: {}, run: async () => {} }
  t.strictSame(await undocumentedCommands({ 'thing list': async () => planted }, protocols), ['thing list'])
  t.match(commandHelp({ ...planted, json: '[{ id }]' }), /^--json prints \[\{ id \}\]$/m)
})

t.test('commands: a JSON document differs from its shape by missing and by unknown fields', async (t) => {
  const shape = '{ id, size?, of: [{ name }] | null }; null is unknown'
  t.strictSame(fieldsIn(shape), [
    { name: 'id', isOptional: false },
    { name: 'size', isOptional: true },
    { name: 'of', isOptional: false },
  ])
  t.strictSame(differencesFrom(shape, { id: 1, of: null }), [])
  t.strictSame(differencesFrom(shape, { id: 1, name: 2 }), ['lacks of', 'has name'])
  t.strictSame(differencesFrom(shape, []), ['is a list'])
  t.strictSame(differencesFrom('[{ id, … }]', [{ id: 1, more: 2 }, { more: 2 }]), ['lacks id'])
  t.strictSame(differencesFrom('[{ id }]', { id: 1 }), ['is no list'])
})
