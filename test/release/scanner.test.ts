// The contents of images, as the tool of their build writes them, in front of a scanner, with a database of four advisories.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import { writeAdvisories } from '#test/helpers/release/advisories.ts'
import { call, cloneForRelease } from '#test/helpers/release/clone.ts'

type Sbom = { components: { type: string; name: string; version: string; purl?: string; licenses?: unknown }[] }

const grype = resolve(import.meta.dirname, '../../.tools/scanner/grype')
const folder = t.testdir({ dpkg: { info: {} }, cache: {} })
const clone = join(folder, 'clone')
await cloneForRelease(clone)

const debianPackage = (name: string, fields: string) =>
  `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nMaintainer: Test\nDescription: of the test\n${fields}\n\n`
/** One whose source package has its name, one with another name, one whose source package has another version too. */
const installed = [
  debianPackage('tini', 'Section: misc\nVersion: 0.19.0-1'),
  debianPackage('libssl3', 'Section: libs\nSource: openssl\nVersion: 3.0.17-1~deb12u2'),
  debianPackage('libgcc-s1', 'Section: libs\nSource: gcc-12 (12.2.0-14)\nVersion: 12.2.0-14+deb12u1'),
]
/** Contents of an image with these Debian packages and the npm packages of the clone. */
const contents = async (packages: readonly string[]): Promise<string> => {
  await writeFile(join(folder, 'dpkg/status'), packages.join(''))
  const env = { DPKG_ADMINDIR: join(folder, 'dpkg') }
  await call('node', ['tools/images/write-sbom.ts', 'server'], { cwd: clone, env })
  return readFile(join(clone, 'sbom.cdx.json'), 'utf8')
}
const sbom = await contents(installed)
const system = (JSON.parse(sbom) as Sbom).components.find(({ type }) => type === 'operating-system')
const settings = {
  GRYPE_DB_CACHE_DIR: join(folder, 'cache'),
  GRYPE_DB_AUTO_UPDATE: 'false',
  GRYPE_CHECK_FOR_APP_UPDATE: 'false',
}
writeAdvisories(join(folder, 'advisories.db'), [
  { id: 'CVE-2099-0001', ecosystem: 'deb', name: 'openssl', fixed: '3.0.99-1', major: system?.version ?? '' },
  { id: 'CVE-2099-0002', ecosystem: 'npm', name: 'fastify', fixed: '999.0.0' },
  { id: 'CVE-2099-0003', ecosystem: 'npm', name: 'preact', fixed: '0.0.1' },
  { id: 'CVE-2099-0004', ecosystem: 'application', name: 'nodejs:node.js', fixed: '999.0.0' },
])
await call(grype, ['db', 'import', join(folder, 'advisories.db')], { env: settings })

/** Vulnerabilities that the scanner names, with the package. */
const scan = async (text: string): Promise<string[]> => {
  await mkdir(join(folder, 'scanned'), { recursive: true })
  const file = join(folder, 'scanned/server.cdx.json')
  await writeFile(file, text)
  const { matches } = JSON.parse(
    await call(grype, [`sbom:${file}`, '--output=json', '--quiet'], { env: settings }),
  ) as {
    matches: { vulnerability: { id: string }; artifact: { name: string } }[]
  }
  return matches.map(({ vulnerability, artifact }) => `${vulnerability.id} ${artifact.name}`).toSorted()
}

t.test(
  'scanner: finds a Debian package by its source package, an npm package and Node, and nothing that is fixed',
  async (t) => {
    t.strictSame(await scan(sbom), ['CVE-2099-0001 libssl3', 'CVE-2099-0002 fastify', 'CVE-2099-0004 node'])
  },
)

t.test('scanner: without the distribution or the source package, Debian advisories are not found', async (t) => {
  const { components, ...rest } = JSON.parse(sbom) as Sbom
  const without = (qualifier: RegExp) =>
    JSON.stringify({
      ...rest,
      components: components
        .filter(({ type }) => !qualifier.test('&distro=') || type !== 'operating-system')
        .map(({ purl, ...each }) => ({ ...each, ...(purl !== undefined && { purl: purl.replace(qualifier, '') }) })),
    })
  t.strictSame(await scan(without(/&distro=[^&]*/)), ['CVE-2099-0002 fastify', 'CVE-2099-0004 node'])
  t.strictSame(await scan(without(/&upstream=[^&]*/)), ['CVE-2099-0002 fastify', 'CVE-2099-0004 node'])
})

t.test('contents: name licences of npm packages, and refuse a Debian package that is not of main', async (t) => {
  const { components } = JSON.parse(sbom) as Sbom
  t.match(
    components.find(({ name }) => name === 'fastify'),
    { licenses: [{ expression: 'MIT' }] },
  )
  const foreign = debianPackage('firmware-of-test', 'Section: non-free-firmware/kernel\nVersion: 1.0-1')
  const refusal = await contents([...installed, foreign]).catch(({ stderr }: { readonly stderr: string }) => stderr)
  t.match(refusal, /firmware-of-test 1\.0-1: section non-free-firmware\/kernel is not of main/)
})
