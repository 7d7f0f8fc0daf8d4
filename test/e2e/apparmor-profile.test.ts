import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const run = promisify(execFile)
const profile = resolve(import.meta.dirname, '../../k8s/apparmor/shutterfleet-worker')
/** Compiles a profile without loading it, for which no kernel with AppArmor is needed. */
const compile = (path: string) => run('apparmor_parser', ['--skip-kernel-load', '--skip-cache', path])

t.test('AppArmor profile: nodes can compile it', async (t) => {
  await t.resolves(compile(profile))
})

t.test('AppArmor profile: a rule that nodes do not know is an error', async (t) => {
  const text = await readFile(profile, 'utf8')
  const broken = join(t.testdir({ profile: text.replace('  pivot_root,', '  pivot_rot,') }), 'profile')
  await t.rejects(compile(broken), { message: /syntax error/ })
})
