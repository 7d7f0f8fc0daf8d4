import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { address, flag, integer, list, oneOf, text } from '#shared/config/setting.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const settings = {
  max: integer('POOL_MAX', { help: 'most workers', fallback: 4, min: 1, max: 100 }),
  level: oneOf('LEVEL', { help: 'how much to say', values: ['low', 'high'], fallback: 'low' }),
  secret: text('SECRET', { help: 'a secret', secret: true }),
  loud: flag('LOUD', { help: 'whether to be loud', fallback: false }),
  hosts: list('HOSTS', { help: 'some hosts', fallback: '' }),
  url: address('URL', { help: 'an address', schemes: ['http'], fallback: '' }),
}
const known = new Set(Object.values(settings).map((setting) => setting.name))
const read = (env: Env) => readEnv(settings, env, known)

const problemsOf = (env: Env): string[] => {
  try {
    read(env)
    return []
  } catch (error) {
    return (error as AppError).message.split('\n')
  }
}

t.test('read env: fills in defaults and freezes what it read', async (t) => {
  const values = read({ SHUTTERFLEET_SECRET: 's', SHUTTERFLEET_HOSTS: 'a, b,,c' })
  t.strictSame(values, { max: 4, level: 'low', secret: 's', loud: false, hosts: ['a', 'b', 'c'], url: undefined })
  t.ok(Object.isFrozen(values))
})

t.test('read env: reports all problems at once, each with the variable, its value and the bound', async (t) => {
  const problems = problemsOf({ SHUTTERFLEET_POOL_MAX: '0', SHUTTERFLEET_LEVEL: 'mid', SHUTTERFLEET_LOUD: 'yes' })
  t.strictSame(problems, [
    'SHUTTERFLEET_POOL_MAX = 0, must be a whole number from 1 to 100',
    'SHUTTERFLEET_LEVEL = mid, must be one of low, high',
    'SHUTTERFLEET_SECRET is not set; a secret (text)',
    'SHUTTERFLEET_LOUD = yes, must be true or false',
  ])
})

t.test('read env: refuses a variable with the prefix that no setting knows', async (t) => {
  t.strictSame(problemsOf({ SHUTTERFLEET_SECRET: 's', SHUTTERFLEET_POOL_MAXX: '3' }), [
    'SHUTTERFLEET_POOL_MAXX is not a setting of Shutterfleet',
  ])
  t.strictSame(problemsOf({ SHUTTERFLEET_SECRET: 's', OTHER: '3' }), [])
})

t.test('read env: reads a secret from a file and never shows it', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'secret')
  writeFileSync(path, 'from a file\n')
  t.equal(read({ SHUTTERFLEET_SECRET_FILE: path }).secret, 'from a file')
  t.match(problemsOf({ SHUTTERFLEET_SECRET_FILE: `${path}x` })[0], /SECRET_FILE = .*cannot be read/)
  t.match(problemsOf({ SHUTTERFLEET_SECRET_FILE: path, SHUTTERFLEET_SECRET: 's' })[0], /both set/)
  t.match(problemsOf({ SHUTTERFLEET_SECRET: '' })[0], /\(hidden\)/)
})
