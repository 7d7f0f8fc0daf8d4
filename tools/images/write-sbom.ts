// write-sbom.ts IMAGE: writes an image's contents to sbom.cdx.json as CycloneDX 1.5: the installed npm packages of
// package-lock.json, Node, the Debian release and its packages, each with its source package, under which scanners find advisories,
// and its licences. Runs in the image; the same packages give the same bytes. Exits 1 if a Debian package is not of the area main.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { debianLicences, isMain } from './licences.ts'
import { installedPackages } from './npm-packages.ts'

/** An SPDX expression, or a name of a distribution that need not be one of SPDX. */
type Licence = { readonly expression: string } | { readonly license: { readonly name: string } }

type Component = {
  readonly type: 'application' | 'library' | 'operating-system'
  readonly name: string
  readonly version: string
  /** None for the operating system. */
  readonly purl?: string
  /** The name in the National Vulnerability Database, of what is in no registry of packages. */
  readonly cpe?: string
  readonly licenses?: readonly Licence[]
}
type Lock = { readonly version: string }

const dpkgMs = 30_000
const root = resolve(import.meta.dirname, '../..')

const npmPackages = (): Component[] =>
  installedPackages(root).map(({ name, version, licence }) => ({
    type: 'library' as const,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ expression: licence }],
  }))

/** Name and version of the operating system in os-release: `debian`, `12`. */
const operatingSystem = (): Component => {
  const fields = new Map(
    readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.split('=', 2))
      .map(([field = '', value = '']) => [field, value.replaceAll('"', '')] as const),
  )
  return { type: 'operating-system', name: fields.get('ID') ?? '', version: fields.get('VERSION_ID') ?? '' }
}

const licencesOf = (debianPackage: string): string[] => {
  const file = `/usr/share/doc/${debianPackage}/copyright`
  return existsSync(file) ? debianLicences(readFileSync(file, 'utf8')) : []
}

const debianPackages = (distro: string): Component[] => {
  const format =
    '--showformat=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\t${Section}\n'
  const printed = execFileSync('dpkg-query', ['--show', format], { encoding: 'utf8', timeout: dpkgMs })
  return printed
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([status]) => status?.trim() === 'ii')
    .map(([, name = '', version = '', architecture = '', source = '', sourceVersion = '', section = '']) => {
      const licences = licencesOf(name)
      if (!isMain(section))
        throw new Error(`${name} ${version}: section ${section} is not of main; licences: ${licences.join(', ')}`)
      const upstream = encodeURIComponent(sourceVersion === version ? source : `${source}@${sourceVersion}`)
      const path = `${encodeURIComponent(name)}@${encodeURIComponent(version)}`
      const purl = `pkg:deb/debian/${path}?arch=${architecture}&distro=${distro}&upstream=${upstream}`
      return {
        type: 'library' as const,
        name,
        version,
        purl,
        licenses: licences.map((each) => ({ license: { name: each } })),
      }
    })
}

const [image = ''] = process.argv.slice(2)
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
const node = process.version.slice(1)
const system = operatingSystem()
const found: Component[] = [
  ...npmPackages(),
  {
    type: 'application',
    name: 'node',
    version: node,
    purl: `pkg:generic/node@${node}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    licenses: [{ expression: 'MIT' }],
  },
  system,
  ...debianPackages(`${system.name}-${system.version}`),
]
const components = [...new Map(found.map((each) => [each.purl ?? '', each])).entries()]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([, component]) => component)
const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { type: 'container', name: `shutterfleet-${image}`, version: lock.version } },
  components,
}
writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 1)}\n`)
