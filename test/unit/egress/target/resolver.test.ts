import t from 'tap'
import { createResolver } from '#egress/target/resolver.ts'

t.test('a name without answer, within the wait or at its end, has no addresses', async (t) => {
  t.same(await createResolver(300).resolve('nowhere.invalid'), [])
  t.same(await createResolver(300).lookup('nowhere.invalid'), [])
  t.same(await createResolver(300).resolve(`${'a'.repeat(70)}.test`), [], 'not even a name that cannot exist')
})

t.test('finds names of the hosts file only where it may look there', async (t) => {
  t.ok((await createResolver(5000).lookup('localhost')).includes('127.0.0.1'))
})
