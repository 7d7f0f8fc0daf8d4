import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Command } from '#cli/command/command.ts'
import { runCommand } from '#cli/command/run-command.ts'
import { AppError } from '#shared/errors/app-error.ts'

const echo: Command = {
  usage: 'thing show NAME [--size N] [--tag T]…',
  summary: 'shows a thing',
  json: '{ operands, flags }',
  operandHelp: { NAME: 'that of the thing' },
  flags: {
    size: { type: 'string', value: 'N', help: 'its size' },
    tag: { type: 'string', value: 'T', multiple: true, short: 't', help: 'one of its tags' },
  },
  run: async ({ print, note }, args) => {
    note('working')
    if (args.operands[0] === 'wrong') {
      const details = { size: ['must be small'], name: ['must be short'] }
      throw new AppError('VALIDATION_ERROR', { publicMessage: 'size must be small', details })
    }
    if (args.operands[0] === 'broken') throw new AppError('SERVICE_UNAVAILABLE', { message: 'it is broken: mend it' })
    print({ json: args, text: `thing ${args.operands[0]}` })
  },
}

const root = resolve(import.meta.dirname, '../../../..')

const run = async (...args: string[]) => {
  let out = ''
  let errors = ''
  const code = await runCommand({ 'thing show': async () => echo }, args, {
    env: {},
    stop: new AbortController().signal,
    root,
    write: (text) => {
      out += text
    },
    note: (line) => {
      errors += `${line}\n`
    },
  })
  return { code, out, errors }
}

t.test('run command: prints the result as text, or as one JSON document and nothing else', async (t) => {
  t.strictSame(await run('thing', 'show', 'x'), { code: 0, out: 'thing x\n', errors: 'working\n' })
  const { out } = await run('thing', 'show', 'x', '--json', '--size', '3', '-t', 'a', '--tag=b')
  t.match(JSON.parse(out), { operands: ['x'], flags: { size: '3', tag: ['a', 'b'] } })
})

t.test('run command: wrong usage exits with 2 and names the fault', async (t) => {
  for (const [args, named] of [
    [[], /no command given.*thing show/],
    [['nothing'], /nothing is not a command.*thing show/],
    [['thing', 'show'], /NAME is missing: that of the thing$/m],
    [['thing', 'show', 'x', 'y'], /y is an unexpected argument/],
    [['thing'], /thing needs a second word: thing show$/m],
    [['thing', 'other', 'x'], /thing needs a second word: thing show$/m],
    [['thing', 'shwo', 'x'], /thing shwo is not a command; did you mean 'thing show'\?$/m],
    [['thnig', 'show', 'x'], /thnig is not a command; did you mean 'thing show'\?/],
    [['thing', 'show', 'x', '--colour', 'red'], /^shutterfleet: --colour is not an option of: thing show NAME/m],
    [['thing', 'show', 'x', '--szie', '3'], /^shutterfleet: --szie is not an option; did you mean --size\?$/m],
    [['thing', 'show', 'x', '--size'], /--size/],
    [['thing', 'show', 'x', '--json=yes'], /--json/],
  ] as const) {
    const { code, out, errors } = await run(...args)
    t.strictSame([code, out], [2, ''], args.join(' '))
    t.match(errors, named)
  }
})

t.test('run command: a failure exits with 1 and prints advice to standard error only', async (t) => {
  t.strictSame(await run('thing', 'show', 'broken', '--json'), {
    code: 1,
    out: '',
    errors: 'working\nshutterfleet: it is broken: mend it\n',
  })
})

t.test('run command: what is wrong with a field is said once', async (t) => {
  t.match(await run('thing', 'show', 'wrong'), { errors: /: size must be small: name must be short\n$/ })
})

t.test('run command: prints its version', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  t.strictSame(await run('--version'), { code: 0, out: `shutterfleet ${version}\n`, errors: '' })
  t.strictSame(JSON.parse((await run('--version', '--json')).out), { version })
})

t.test('run command: prints help for a group of commands', async (t) => {
  t.match(await run('thing', '--help'), { code: 0, out: /^usage: [^]*thing show +shows a thing/ })
  t.match(await run('nothing', '--help'), { code: 2, out: '' })
})

t.test('run command: prints help for every command, and lists them all', async (t) => {
  t.match(await run('--help'), { code: 0, out: /thing show +shows a thing/ })
  for (const args of [
    ['thing', 'show', '--help'],
    ['thing', 'show', 'x', '-h'],
  ]) {
    t.match(await run(...args), { code: 0, out: /usage: bin\/shutterfleet thing show NAME[^]*--size N[^]*--json/ })
  }
})
