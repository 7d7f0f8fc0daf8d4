import { resolve } from 'node:path'
import t from 'tap'
import type { ParsedArgs } from '#cli/command/command.ts'
import { up, withFlags } from '#cli/up.ts'
import { upFlags } from '#local/local-settings.ts'

const parsedArgs = (flags: ParsedArgs['flags']): ParsedArgs => ({ flags, operands: [] })

t.test('up: each flag sets a variable, and takes precedence over it', (t) => {
  const env = { SHUTTERFLEET_GATEWAY_PORT: '1', SHUTTERFLEET_LOG_LEVEL: 'warn' }
  const flags = {
    data: 'folder',
    port: '2',
    'workers-max': '3',
    'allow-target': ['127.0.0.1:8000', 'intranet'],
    'public-url': 'https://shots.example',
  }
  t.strictSame(withFlags(env, parsedArgs(flags)), {
    SHUTTERFLEET_LOG_LEVEL: 'warn',
    SHUTTERFLEET_DATA: resolve('folder'),
    SHUTTERFLEET_GATEWAY_PORT: '2',
    SHUTTERFLEET_POOL_MAX: '3',
    SHUTTERFLEET_ALLOW_TARGETS: '127.0.0.1:8000,intranet',
    SHUTTERFLEET_PUBLIC_URL: 'https://shots.example',
  })
  t.strictSame(withFlags(env, parsedArgs({})), env)
  t.end()
})

t.test('up: an invalid value is reported with its flag, a secret one is hidden', (t) => {
  for (const [flags, named] of [
    [{ port: 'abc' }, /^--port abc: /],
    [{ 'workers-max': '0' }, /^--workers-max 0: /],
    [{ 'allow-target': ['http://x/y'] }, /^--allow-target /],
    [{ 'public-url': 'ftp://x' }, /^--public-url /],
    [{ postgres: 'mysql://user:secret@host' }, /^--postgres \(hidden\): /],
    [{ data: '' }, /^--data must not be empty/],
  ] as const) {
    t.throws(() => withFlags({}, parsedArgs(flags)), { message: named })
  }
  t.end()
})

t.test('up: has exactly the documented flags', (t) => {
  t.strictSame(Object.keys(up.flags).toSorted(), [...Object.keys(upFlags), 'detach'].toSorted())
  t.end()
})
