import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A file or folder of the machine and the path where browsers find it, read-only. */
export type Mount = { readonly from: string; readonly to: string }

/** Home and temporary files of a browser: in memory, and gone with it. */
export const browserHome = '/tmp'

/** Holds what Chromium shares between its processes too: a full page of 3840 by 20,000 pixels takes 307 MB. */
const homeBytes = 1_073_741_824
const shmBytes = 67_108_864

/** Programs, libraries, fonts, certificates, policies. Of `/usr` not `src` nor `local/etc`, where checkouts and secrets lie. */
const systemPaths = [
  ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'local/lib', 'local/share'].map(
    (name) => `/usr/${name}`,
  ),
  ...['alternatives', 'ca-certificates', 'fonts', 'ld.so.cache', 'localtime', 'pki', 'ssl/certs'].map(
    (name) => `/etc/${name}`,
  ),
  '/etc/chromium/policies',
  '/etc/opt/chrome/policies',
  '/var/cache/fontconfig',
]

/** Links into `/usr` on most systems, folders on others. */
const rootPaths = ['/bin', '/lib', '/lib32', '/lib64', '/sbin']

const checkout = join(import.meta.dirname, '..', '..', '..')
/** What the browser host loads. */
const loadedPaths = ['node_modules', 'package.json', 'services/shared', 'services/worker'].map((name) =>
  join(checkout, name),
)

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const ancestorsOf = (path: string): string[] => (path === '/' ? [] : [...ancestorsOf(dirname(path)), path])

const memory = (path: string, bytes: number) => ['--perms', '1777', '--size', String(bytes), '--tmpfs', path]

/**
 * Arguments with which `bwrap` makes a browser's whole file tree: read-only but for home and shared memory. `/dev` has
 * the devices that are everybody's, `/proc` the browser's own processes; `/home`, `/run` and `/sys` have nothing of the
 * machine's. `browsers` are seen with the whole folder that each lies in.
 */
export const fileTree = (browsers: readonly string[], mounts: readonly Mount[]): readonly string[] => {
  const links = rootPaths.filter(isLink)
  const programs = [process.execPath, ...browsers.flatMap((path) => [dirname(path), dirname(realPath(path))])]
  const same = [...systemPaths, ...rootPaths, ...loadedPaths, ...programs]
    .filter((path) => !links.some((link) => `${path}/`.startsWith(`${link}/`)))
    .map((path) => ({ from: path, to: path }))
  const folders = new Set([...same, ...mounts].flatMap(({ to }) => ancestorsOf(dirname(to))))
  return [
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...memory('/dev/shm', shmBytes),
    ...memory(browserHome, homeBytes),
    // Made by the way they would be for root alone.
    ...[...folders].flatMap((folder) => ['--dir', folder]),
    ...links.flatMap((link) => ['--symlink', readlinkSync(link), link]),
    ...same.flatMap(({ from, to }) => ['--ro-bind-try', from, to]),
    ...mounts.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--chdir',
    browserHome,
  ]
}
