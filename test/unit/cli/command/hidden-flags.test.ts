import t from 'tap'
import { takeHiddenFlags } from '#cli/command/hidden-flags.ts'

t.test('hidden flags: are removed from the environment, so that no child process inherits them', async (t) => {
  const env = { PATH: '/bin', HIDDEN_FLAG_S3: 'https://k:s=e@h/b', HIDDEN_FLAG_POSTGRES: '' }
  t.same(takeHiddenFlags(env), ['--postgres=', '--s3=https://k:s=e@h/b'])
  t.same(env, { PATH: '/bin' })
  t.same(takeHiddenFlags(env), [])
})
