import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fileTree } from '#worker/isolation/file-tree.ts'

/** The source and target of each mount argument. */
const mountsOf = (args: readonly string[], kind: string) =>
  args.flatMap((arg, place) => (arg === kind ? [[args[place + 1], args[place + 2]]] : []))

t.test('fileTree: Chromium is mounted at its given path and at its resolved path', async (t) => {
  const folder = t.testdir({ v1: { shell: '' } })
  symlinkSync('v1', join(folder, 'current'))
  const found = mountsOf(fileTree([join(folder, 'current', 'shell')], []), '--ro-bind-try').map(([, to]) => to)
  t.ok(found.includes(join(folder, 'current')))
  t.ok(found.includes(join(folder, 'v1')))
})

t.test('fileTree: parent folders of mounts are accessible to every user', async (t) => {
  const args = fileTree(['/opt/a/b/shell'], [{ from: '/x/socket', to: '/run/y/socket' }])
  const folders = args.filter((_, place) => args[place - 1] === '--dir')
  for (const folder of ['/opt', '/opt/a', '/run', '/run/y', '/usr', '/usr/local'])
    t.ok(folders.includes(folder), folder)
  t.strictSame(mountsOf(args, '--ro-bind'), [['/x/socket', '/run/y/socket']])
})

t.test('fileTree: only home and shared memory are writable, each with a size limit', async (t) => {
  const args = fileTree(['/opt/shell'], [])
  t.notOk(args.some((arg) => /^--(dev-)?bind/.test(arg)))
  const memories = args.flatMap((arg, place) => (arg === '--tmpfs' ? [args.slice(place - 2, place + 2)] : []))
  t.strictSame(
    memories.map(([size, , , path]) => [size, path]),
    [
      ['--size', '/dev/shm'],
      ['--size', '/tmp'],
    ],
  )
  t.strictSame(
    args.filter((_, place) => args[place - 1] === '--remount-ro'),
    ['/dev', '/'],
  )
})
