// write-sbom.ts IMAGE: writes an image's contents to sbom.cdx.json as CycloneDX 1.5: the installed npm packages of
// package-lock.json, the Debian packages, and Node. Runs in the image; the same packages give the same bytes.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

type Component = { readonly type: string; readonly name: string; readonly version: string; readonly purl: string }
type Lock = { readonly version: string; readonly packages: Readonly<Record<string, { readonly version: string }>> }

const dpkgMs = 30_000
const root = resolve(import.meta.dirname, '../..')
const folderOfPackages = 'node_modules/'

const npmPackages = ({ packages }: Lock): Component[] =>
  Object.entries(packages)
    .filter(([path]) => path !== '' && existsSync(join(root, path, 'package.json')))
    .map(([path, { version }]) => {
      const name = path.slice(path.lastIndexOf(folderOfPackages) + folderOfPackages.length)
      return { type: 'library', name, version, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` }
    })

const debianPackages = (): Component[] => {
  const format = '--showformat=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n'
  const printed = execFileSync('dpkg-query', ['--show', format], { encoding: 'utf8', timeout: dpkgMs })
  return printed
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([status]) => status?.trim() === 'ii')
    .map(([, name = '', version = '', architecture = '']) => {
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`
      return { type: 'library', name, version, purl }
    })
}

const [image = ''] = process.argv.slice(2)
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
const node = process.version.slice(1)
const found = [
  ...npmPackages(lock),
  { type: 'application', name: 'node', version: node, purl: `pkg:generic/node@${node}` },
  ...debianPackages(),
]
const components = [...new Map(found.map((each) => [each.purl, each])).values()].toSorted((a, b) =>
  a.purl < b.purl ? -1 : 1,
)
const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { type: 'container', name: `shutterfleet-${image}`, version: lock.version } },
  components,
}
writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 1)}\n`)
