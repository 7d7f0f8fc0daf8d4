import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { rootCertificates } from 'node:tls'
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

/** Runs in a process whose thread has read half of the file in NODE_EXTRA_CA_CERTS; prints how many certificates it trusts. */
const countExtra = `
  import { readSync } from 'node:fs'
  import { getCACertificates } from 'node:tls'
  import { closeInheritedDescriptors } from '#shared/process/close-inherited-descriptors.ts'
  readSync(0, Buffer.alloc(1))
  closeInheritedDescriptors()
  console.log(getCACertificates('extra').length)`
/** How long a process has to close the file before the rest of it can be read. */
const closingMs = 300

t.test('inherited descriptors: the file of extra authorities is read to its end', async (t) => {
  const path = join(t.testdir(), 'ca.pem')
  spawnSync('mkfifo', [path])
  const [certificate = ''] = rootCertificates
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: path, NODE_OPTIONS: '' }
  const args = ['--input-type=module-typescript', '-e', countExtra]
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] })
  // Resolves once the file is open at the other end too.
  await using file = await open(path, 'w')
  await file.write(certificate.slice(0, 100))
  child.stdin.end('x')
  await delay(closingMs)
  await file.write(certificate.slice(100))
  await file.close()
  t.equal(await text(child.stdout), '1\n')
})
