import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundleFolder } from '#shared/process/program-path.ts'

/** A file or folder of the machine and its read-only path in the browser's file tree. */
export type Mount = { readonly from: string; readonly to: string }

/** Home and temporary files of a browser, on a tmpfs that ends with it. */
export const browserHome = '/tmp'

/** Includes the memory that Chromium's processes share: a full page of 3840 by 20,000 pixels takes 307 MB. */
const homeBytes = 1_073_741_824
const shmBytes = 67_108_864

/** Programs, libraries, fonts, certificates, policies. Not `/usr/src` or `/usr/local/etc`: they may contain checkouts and secrets. */
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

/** Symbolic links into `/usr` on most systems, folders on others. */
const rootPaths = ['/bin', '/lib', '/lib32', '/lib64', '/sbin']

const checkout = join(import.meta.dirname, '..', '..', '..')
/** What the browser host loads: from a bundle too, which in an image is in the same folder. */
const loadedPaths = [...new Set([checkout, bundleFolder ?? checkout])].flatMap((folder) =>
  ['node_modules', 'package.json', 'services/shared', 'services/worker'].map((name) => join(folder, name)),
)

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const listAncestors = (path: string): string[] => (path === '/' ? [] : [...listAncestors(dirname(path)), path])

const memory = (path: string, bytes: number) => ['--perms', '1777', '--size', String(bytes), '--tmpfs', path]

/**
 * Returns the `bwrap` arguments for a browser's file tree: read-only except for home and shared memory. `/dev` contains the
 * standard devices, `/proc` the processes of the namespace; nothing of the machine's `/home`, `/run` and `/sys` is visible.
 * The whole folder of each binary in `browsers` is mounted.
 */
export const fileTree = (browsers: readonly string[], mounts: readonly Mount[]): readonly string[] => {
  const links = rootPaths.filter(isLink)
  const programs = [process.execPath, ...browsers.flatMap((path) => [dirname(path), dirname(realPath(path))])]
  const same = [...systemPaths, ...rootPaths, ...loadedPaths, ...programs]
    .filter((path) => !links.some((link) => `${path}/`.startsWith(`${link}/`)))
    .map((path) => ({ from: path, to: path }))
  const folders = new Set([...same, ...mounts].flatMap(({ to }) => listAncestors(dirname(to))))
  return [
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...memory('/dev/shm', shmBytes),
    ...memory(browserHome, homeBytes),
    // Folders that `bwrap` creates implicitly would be readable by root only.
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
