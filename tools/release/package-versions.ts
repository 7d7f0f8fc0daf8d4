// package-versions.ts NAME...: prints `name version` of these Debian packages in a SBOM on standard input: CycloneDX, or the
// attestation of one, as cosign prints it.
import { text } from 'node:stream/consumers'

type Sbom = {
  readonly components: readonly { readonly name: string; readonly version: string; readonly purl?: string }[]
}
type Envelope = { readonly payload: string }
type Statement = { readonly predicate: Sbom }

const readSbom = (json: string): Sbom => {
  const read = JSON.parse(json) as Sbom | Envelope
  return 'payload' in read ? (JSON.parse(Buffer.from(read.payload, 'base64').toString()) as Statement).predicate : read
}

const names = new Set(process.argv.slice(2))
const { components } = readSbom(await text(process.stdin))
for (const { name, version, purl } of components)
  if (names.has(name) && purl?.startsWith('pkg:deb/')) console.log(`${name} ${version}`)
