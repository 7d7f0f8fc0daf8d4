import t from 'tap'
import { readRouterConfig } from '#gateway/router/config.ts'

const env = {
  SHUTTERFLEET_ROUTER_CELLS: 'one=http://gateway.one:8080, two=https://two.example/',
  SHUTTERFLEET_ROUTER_TOKEN: 'a-token-of-16-characters',
  SHUTTERFLEET_PUBLIC_URL: 'https://shots.example',
}

t.test('cells are named addresses', async (t) => {
  t.same(readRouterConfig(env).cells, [
    { name: 'one', url: 'http://gateway.one:8080' },
    { name: 'two', url: 'https://two.example' },
  ])
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
  for (const value of ['', 'short', 'sixteen characters with spaces'])
    t.throws(() => readRouterConfig({ ...env, SHUTTERFLEET_ROUTER_TOKEN: value }), {
      message: /^SHUTTERFLEET_ROUTER_TOKEN .*at least 16/,
    })
})
