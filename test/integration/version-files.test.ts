import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { versionFiles } from '#tools/docs/version-files.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const raised = (path: string) => (path === 'package.json' ? JSON.stringify({ version: '12.3.4-rc.1' }) : read(path))

t.test('version files: all state the version of package.json, and take over another', (t) => {
  const files = Object.entries(versionFiles(raised))
  const { version } = JSON.parse(read('package.json')) as { version: string }
  t.ok(files.length >= 12)
  for (const [path, text] of files) {
    t.not(text, read(path), path)
    t.match(text, '12.3.4-rc.1', path)
  }
  t.strictSame(
    Object.entries(versionFiles(read)).filter(([path, text]) => text !== read(path)),
    [],
    version,
  )
  t.end()
})

t.test('version files: a file that no longer states a version is reported', (t) => {
  t.throws(
    () => versionFiles((path) => (path === 'Dockerfile' ? 'FROM debian' : read(path))),
    /Dockerfile states no version/,
  )
  t.end()
})

t.test('version files: no other page or manifest names an image by version', (t) => {
  const named = execFileSync(
    'git',
    [
      'grep',
      '-lE',
      'shutterfleet/(server|worker|worker-stealth|\\$target):v?[0-9]',
      '--',
      'docs',
      'k8s',
      'README.md',
      'charts/*.md',
      'charts/*/Chart.yaml',
      'clients/*/README.md',
      '.github',
      // Its version is that of an example.
      ':!docs/releases.md',
    ],
    { cwd: root, encoding: 'utf8' },
  )
  const listed = new Set(Object.keys(versionFiles(read)))
  t.strictSame(
    named
      .trim()
      .split('\n')
      .filter((path) => !listed.has(path)),
    [],
  )
  t.end()
})
