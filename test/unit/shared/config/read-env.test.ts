import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { address, flag, integer, list, oneOf, text } from '#shared/config/settings/setting.ts'
import { allSettings } from '#shared/config/settings/all.ts'
import type { AppError } from '#shared/errors/app-error.ts'

const settings = {
  max: integer('POOL_MAX', { help: 'most workers', fallback: 4, min: 1, max: 100 }),
  level: oneOf('LOG_LEVEL', { help: 'how much to log', values: ['low', 'high'], fallback: 'low' }),
  secret: text('KEY_PEPPER', { help: 'a secret', secret: true }),
  loud: flag('POD_EXTRA_CA', { help: 'whether to be loud', fallback: false }),
  hosts: list('ALLOW_TARGETS', { help: 'some hosts', fallback: '' }),
  url: address('PUBLIC_URL', { help: 'an address', schemes: ['http'], fallback: '' }),
}
const read = (env: Env) => readEnv(settings, env)

const problemsOf = (env: Env): string[] => {
  try {
    read(env)
    return []
  } catch (error) {
    return (error as AppError).message.split('\n')
  }
}

t.test('read env: fills in defaults and freezes the result', async (t) => {
  const values = read({ SHUTTERFLEET_KEY_PEPPER: 's', SHUTTERFLEET_ALLOW_TARGETS: 'a, b,,c' })
  t.strictSame(values, { max: 4, level: 'low', secret: 's', loud: false, hosts: ['a', 'b', 'c'], url: undefined })
  t.ok(Object.isFrozen(values))
})

t.test('read env: reports all problems at once, each with the variable, its value and the bound', async (t) => {
  const problems = problemsOf({
    SHUTTERFLEET_POOL_MAX: '0',
    SHUTTERFLEET_LOG_LEVEL: 'mid',
    SHUTTERFLEET_POD_EXTRA_CA: 'yes',
  })
  t.strictSame(problems, [
    'SHUTTERFLEET_POOL_MAX = 0, must be a whole number from 1 to 100',
    'SHUTTERFLEET_LOG_LEVEL = mid, must be one of low, high',
    'SHUTTERFLEET_KEY_PEPPER is not set; a secret (text)',
    'SHUTTERFLEET_POD_EXTRA_CA = yes, must be true or false',
  ])
})

t.test('read env: rejects an unknown variable with the prefix', async (t) => {
  t.strictSame(problemsOf({ SHUTTERFLEET_KEY_PEPPER: 's', SHUTTERFLEET_POOL_MAXX: '3' }), [
    'SHUTTERFLEET_POOL_MAXX is not a setting of Shutterfleet',
  ])
  t.strictSame(problemsOf({ SHUTTERFLEET_KEY_PEPPER: 's', OTHER: '3' }), [])
})

t.test('read env: reads a secret from a file and never shows it', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'secret')
  writeFileSync(path, 'from a file\n')
  t.equal(read({ SHUTTERFLEET_KEY_PEPPER_FILE: path }).secret, 'from a file')
  t.match(problemsOf({ SHUTTERFLEET_KEY_PEPPER_FILE: `${path}x` })[0], /KEY_PEPPER_FILE = .*cannot be read/)
  t.match(problemsOf({ SHUTTERFLEET_KEY_PEPPER_FILE: path, SHUTTERFLEET_KEY_PEPPER: 's' })[0], /both set/)
  t.match(problemsOf({ SHUTTERFLEET_KEY_PEPPER: '' })[0], /\(hidden\)/)
})

t.test(
  'read env: a setting that is not secret takes no file, and an error never shows what a file contains',
  async (t) => {
    const path = join(t.testdir({ key: 'opening-key-of-the-pool' }), 'key')
    const files = ['LOG_LEVEL', 'POOL_MAX', 'PUBLIC_URL', 'KEY_PEPPER'].map((name) => [
      `SHUTTERFLEET_${name}_FILE`,
      path,
    ])
    const problems = problemsOf({ ...Object.fromEntries(files), SHUTTERFLEET_DATABASE_POOL_MAX_FILE: path })
    t.strictSame(
      problems,
      ['LOG_LEVEL', 'POOL_MAX', 'PUBLIC_URL', 'DATABASE_POOL_MAX'].map(
        (name) =>
          `SHUTTERFLEET_${name}_FILE is set, but SHUTTERFLEET_${name} takes no file, because it is not secret; set SHUTTERFLEET_${name}`,
      ),
    )
  },
)

t.test('read env: no secret setting of any service shows its value if it is invalid', async (t) => {
  const path = join(t.testdir({ key: '\u0000 cannot be valid ://' }), 'key')
  for (const group of Object.values(allSettings)) {
    for (const { name, secret } of Object.values(group)) {
      const variable = `SHUTTERFLEET_${name}_FILE`
      const problems = [{ [variable]: path }].flatMap((env) => {
        try {
          readEnv(group, env)
          return []
        } catch (error) {
          return (error as AppError).message.split('\n')
        }
      })
      t.notMatch(problems.join(), /cannot be valid/, name)
      if (!secret && !name.endsWith('_FILE')) t.match(problems.join(), `SHUTTERFLEET_${name} takes no file`, name)
    }
  }
})
