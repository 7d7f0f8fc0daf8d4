import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { ParsedArgs } from '#cli/command/command.ts'
import {
  findConsole,
  findDataFolder,
  findDatabaseUrl,
  findInterface,
  findKeyPepper,
  givenDirectUrl,
} from '#cli/installation.ts'

const parsedArgs = (flags: ParsedArgs['flags'] = {}): ParsedArgs => ({ flags, operands: [] })

/** A data folder of a running system. */
const running = (folder: string) => {
  mkdirSync(folder, { recursive: true })
  const local = {
    base_url: 'http://local',
    public_url: 'https://public',
    account_id: 'first',
    api_key: 'local-key',
    database_url: 'postgres://local',
  }
  writeFileSync(join(folder, 'local.json'), JSON.stringify(local))
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ keyPepper: 'local-pepper' }))
  return folder
}

t.test('installation: the data folder is the flag, else the variable, else the default', (t) => {
  t.equal(findDataFolder({ SHUTTERFLEET_DATA: 'b' }, parsedArgs({ data: 'a' })), resolve('a'))
  t.equal(findDataFolder({ SHUTTERFLEET_DATA: 'b' }, parsedArgs()), resolve('b'))
  t.equal(findDataFolder({}, parsedArgs()), resolve('.shutterfleet'))
  t.end()
})

t.test('installation: commands find the running system in its data folder', async (t) => {
  const data = parsedArgs({ data: running(t.testdir()) })
  t.strictSame(await findInterface({}, data), { baseUrl: 'http://local', apiKey: 'local-key' })
  t.equal(await findDatabaseUrl({}, data), 'postgres://local')
  t.equal(await findKeyPepper({}, data), 'local-pepper')
})

t.test(
  'installation: variables replace a data folder; a --data flag takes precedence over the database variable',
  async (t) => {
    const env = {
      SHUTTERFLEET_DATA: join(t.testdir(), 'nowhere'),
      SHUTTERFLEET_BASE_URL: 'http://env',
      SHUTTERFLEET_API_KEY: 'env-key',
      SHUTTERFLEET_DATABASE_URL: 'postgres://env',
      SHUTTERFLEET_KEY_PEPPER: 'env-pepper',
    }
    t.strictSame(await findInterface(env, parsedArgs()), { baseUrl: 'http://env', apiKey: 'env-key' })
    t.equal(await findDatabaseUrl(env, parsedArgs()), 'postgres://env')
    const direct = { SHUTTERFLEET_DATABASE_DIRECT_URL: 'postgres://direct' }
    t.equal(await findDatabaseUrl({ ...env, ...direct }, parsedArgs()), 'postgres://direct', 'bypasses the pooler')
    t.equal(givenDirectUrl(direct), undefined, 'without a pooler there is no direct URL')
    t.equal(await findKeyPepper(env, parsedArgs()), 'env-pepper')
    t.equal(await findDatabaseUrl(env, parsedArgs({ data: running(t.testdir()) })), 'postgres://local')
  },
)

t.test('installation: suggests what to do if no installation is running', async (t) => {
  const nowhere = parsedArgs({ data: t.testdir() })
  await t.rejects(findInterface({}, nowhere), {
    message: /no installation is running in .*bin\/shutterfleet up.*SHUTTERFLEET_BASE_URL/,
  })
  await t.rejects(findDatabaseUrl({}, nowhere), { message: /--data.*SHUTTERFLEET_DATABASE_URL/ })
  await t.rejects(findKeyPepper({}, nowhere), { message: /SHUTTERFLEET_KEY_PEPPER/ })
})

t.test('installation: the console is that of the running system, unless flag and variable name another', async (t) => {
  const data = running(t.testdir())
  const first = { baseUrl: 'https://public', accountId: 'first' }
  t.strictSame(await findConsole({}, parsedArgs({ data })), first)
  t.strictSame(await findConsole({}, parsedArgs({ data, account: 'other' })), { ...first, accountId: 'other' })
  const env = { SHUTTERFLEET_PUBLIC_URL: 'https://env', SHUTTERFLEET_DATA: join(data, 'nowhere') }
  t.strictSame(await findConsole(env, parsedArgs({ account: 'a' })), { baseUrl: 'https://env', accountId: 'a' })
  await t.rejects(findConsole(env, parsedArgs()), { message: /SHUTTERFLEET_PUBLIC_URL and --account/ })
})
