import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../../../..')

/** Runs `before` in a process that inherited `/etc` as descriptors 5, 20 and 300; returns the descriptors of its child. */
const childDescriptors = (before: string): string => {
  const program = `
    import { spawnSync } from 'node:child_process'
    import { closeInheritedDescriptors } from '#shared/process/close-inherited-descriptors.ts'
    ${before}
    spawnSync('ls', ['-l', '/proc/self/fd'], { stdio: 'inherit' })`
  const folder = openSync('/etc', 'r')
  const stdio = Array<'ignore' | 'pipe' | number>(301).fill('ignore')
  for (const fd of [5, 20, 300]) stdio[fd] = folder
  stdio[1] = 'pipe'
  const args = ['--input-type=module-typescript', '-e', program]
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, stdio, encoding: 'utf8' })
  closeSync(folder)
  return stdout
}

t.test('inherited descriptors: no child gets one, and standard streams stay', async (t) => {
  const descriptors = childDescriptors('closeInheritedDescriptors()')
  t.match(descriptors, / 1 -> /)
  t.notMatch(descriptors, '-> /etc')
})

t.test('planted fault: without it Node passes on those beyond a gap', async (t) => {
  const descriptors = childDescriptors('')
  t.match(descriptors, ' 20 -> /etc')
  t.match(descriptors, ' 300 -> /etc')
})
