import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of package-lock.json that is installed in `folder`; `licence` is an SPDX expression, or `none`. */
type InstalledPackage = {
  readonly name: string
  readonly version: string
  readonly licence: string
  readonly folder: string
}
type Lock = {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly license?: string; readonly dev?: boolean }>
  >
}

const folderOfPackages = 'node_modules/'

/** The installed npm packages of `root` that are not for development alone. */
export const installedPackages = (root: string): InstalledPackage[] => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && existsSync(join(root, path, 'package.json')))
    .map(([path, { version, license = 'none' }]) => ({
      name: path.slice(path.lastIndexOf(folderOfPackages) + folderOfPackages.length),
      version,
      licence: license,
      folder: join(root, path),
    }))
}
