// Adds to package-lock.json the optional binaries of other platforms that npm left out because its registry did not have
// them. Without these entries `npm ci` rejects the lock file as incomplete. They have no checksum: nothing installs them.
// Run after a change of dependencies: node tools/lock/complete.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Entry = Readonly<Record<string, unknown>> & { readonly optionalDependencies?: Readonly<Record<string, string>> }
type Lock = { packages: Record<string, Entry> }

const path = join(import.meta.dirname, '..', '..', 'package-lock.json')
const platform = /(android|darwin|freebsd|linux|openharmony|win32|sunos|aix|netbsd|openbsd)-([a-z0-9_]+)(?:-(\w+))?$/
const libcNames: Readonly<Record<string, string>> = { gnu: 'glibc', musl: 'musl' }

const absentEntry = (name: string, version: string): Entry => {
  const [, os, cpu, abi = ''] = platform.exec(name) ?? []
  return {
    version,
    ...(cpu && { cpu: [cpu] }),
    dev: true,
    ...(libcNames[abi] && { libc: [libcNames[abi]] }),
    optional: true,
    ...(os && { os: [os] }),
  }
}

const lock = JSON.parse(readFileSync(path, 'utf8')) as Lock
const absent = Object.entries(lock.packages).flatMap(([at, { optionalDependencies = {} }]) =>
  Object.entries(optionalDependencies).filter(
    ([name]) => !lock.packages[`node_modules/${name}`] && !lock.packages[`${at}/node_modules/${name}`],
  ),
)
for (const [name, version] of absent) lock.packages[`node_modules/${name}`] = absentEntry(name, version)
const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1))
writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
console.log(`${absent.length} entries added`)
