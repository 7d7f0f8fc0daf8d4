// write-third-party.ts FILE NODE_LICENSE: writes name, version, licence and licence texts of the npm packages that are shipped, and of
// Node. Equal texts are printed once. Exits 1 if the licence of a package is not allowed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isAllowed } from './licences.ts'
import { installedPackages } from './npm-packages.ts'

const root = resolve(import.meta.dirname, '../..')
const [file = '', nodeLicense = ''] = process.argv.slice(2)
const licenceFile = /^(?:licen[cs]e|copying|notice)/i

const textOf = (folder: string): string =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && licenceFile.test(entry.name))
    .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim())
    .join('\n\n')

const packages = installedPackages(root)
const refused = packages.filter(({ name, licence }) => !isAllowed(name, licence))
for (const { name, version, licence } of refused) console.error(`${name} ${version}: licence ${licence} is not allowed`)
if (refused.length > 0) process.exitCode = 1
else {
  const parts = [
    {
      title: `node ${process.version.slice(1)}: MIT, and others of its parts`,
      text: readFileSync(nodeLicense, 'utf8').trim(),
    },
    ...packages.map(({ name, version, licence, folder }) => ({
      title: `${name} ${version}: ${licence}`,
      text: textOf(folder),
    })),
  ]
  const byText = Map.groupBy(parts, ({ text }) => text || '(its package has no text of the licence)')
  const sections = [...byText].map(([text, each]) => `${each.map(({ title }) => title).join('\n')}\n\n${text}\n`)
  const head =
    'What Shutterfleet contains of others. Licences of Debian packages are in /usr/share/doc of the images.\n'
  writeFileSync(file, [head, ...sections].join(`\n${'='.repeat(80)}\n`))
}
