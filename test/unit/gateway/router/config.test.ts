import t from 'tap'
import { createKeyHash } from '#shared/db/key-hash.ts'
import { readRouterConfig } from '#gateway/router/config.ts'

const env = {
  SHUTTERFLEET_ROUTER_CELLS: 'one=http://gateway.one:8080, two=https://two.example/',
  SHUTTERFLEET_ROUTER_TOKENS: 'one=a-token-of-16-characters two=another-token-of-two',
  SHUTTERFLEET_KEY_PEPPER: 'pepper',
  SHUTTERFLEET_PUBLIC_URL: 'https://shots.example',
}

t.test('cells are named addresses', async (t) => {
  t.match(readRouterConfig(env).cells, [
    { name: 'one', url: 'http://gateway.one:8080' },
    { name: 'two', url: 'https://two.example' },
  ])
})

t.test('each cell has a token of its own, and may hash keys with a pepper of its own', async (t) => {
  const { cells } = readRouterConfig({ ...env, SHUTTERFLEET_ROUTER_PEPPERS: 'two=the-pepper-of-cell-two' })
  t.same(
    cells.map(({ token }) => token),
    ['a-token-of-16-characters', 'another-token-of-two'],
  )
  t.same(
    cells.map(({ hashKey }) => hashKey('key')),
    ['pepper', 'the-pepper-of-cell-two'].map((pepper) => createKeyHash(pepper)('key')),
  )
  const wrong = {
    'one=a-token-of-16-characters': /none for the cell two/,
    'one=a-token-of-16-characters,two=another-token-of-two,six=a-token-of-16-characters': /ROUTER_TOKENS names six/,
  }
  for (const [value, message] of Object.entries(wrong))
    t.throws(() => readRouterConfig({ ...env, SHUTTERFLEET_ROUTER_TOKENS: value }), { message })
})

t.test('a wrong list of cells or token is refused, and the token not shown', async (t) => {
  const wrong = [
    '',
    'one',
    'one=gateway:8080',
    'One=http://a',
    'a=http://a,a=http://b',
    'a=http://a b=http://a',
    'a=http://a/path',
    'a=http://a?x',
    'a=http://a#x',
    'a=http://name:secret@a',
  ]
  for (const value of wrong)
    t.throws(() => readRouterConfig({ ...env, SHUTTERFLEET_ROUTER_CELLS: value }), /SHUTTERFLEET_ROUTER_CELLS/, value)
  for (const value of [
    'one=short',
    'a-token-of-16-characters',
    'one=sixteen characters',
    'a=1234567890123456,a=1234567890123456',
  ])
    t.throws(() => readRouterConfig({ ...env, SHUTTERFLEET_ROUTER_TOKENS: value }), {
      message: /^SHUTTERFLEET_ROUTER_TOKENS .*at least 16/,
    })
})
