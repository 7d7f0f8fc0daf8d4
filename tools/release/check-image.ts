// check-image.ts ARCHIVE TARGET ARCH COMMIT VERSION: prints the SBOM in an image's archive (docker save), whose labels must name the commit and
// the version, and whose SBOM the target and Debian packages of the architecture; else says what differs, and exits 1.
import { execFileSync } from 'node:child_process'

type Manifest = readonly { readonly Config: string; readonly Layers: readonly string[] }[]
type Config = { readonly architecture: string; readonly config: { readonly Labels?: Readonly<Record<string, string>> } }
type Sbom = {
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly { readonly purl?: string }[]
}

const readMs = 120_000
const fileBytesMax = 64_000_000
/** Layers, each a tar, may be larger than what a string can be: only what is asked for is read. */
const inLayer = `tar -xOf "$0" "$1" | tar -xO app/sbom.cdx.json`
const [archive = '', target = '', arch = '', commit = '', version = ''] = process.argv.slice(2)
const options = { encoding: 'utf8', timeout: readMs, maxBuffer: fileBytesMax } as const

const readEntry = (name: string): unknown => JSON.parse(execFileSync('tar', ['-xOf', archive, name], options))

const readSbom = (layers: readonly string[]): string => {
  for (const layer of layers.toReversed()) {
    try {
      return execFileSync('sh', ['-c', inLayer, archive, layer], { ...options, stdio: ['ignore', 'pipe', 'ignore'] })
    } catch {
      // Not in this layer.
    }
  }
  return ''
}

const findDifferences = ({ architecture, config }: Config, sbom: Sbom | undefined): string[] => {
  const { Labels: labels = {} } = config
  const packages = (sbom?.components ?? []).filter(({ purl }) => purl?.startsWith('pkg:deb/'))
  const foreign = packages.filter(
    ({ purl }) => !['all', arch].includes(new URLSearchParams(purl?.split('?')[1]).get('arch') ?? ''),
  )
  const expected = [
    ['architecture', architecture, arch],
    ['label revision', labels['org.opencontainers.image.revision'], commit],
    ['label version', labels['org.opencontainers.image.version'], version],
    ['name in its SBOM', sbom?.metadata.component.name, `shutterfleet-${target}`],
    ['Debian packages in its SBOM', packages.length > 0 ? 'some' : 'none', 'some'],
    ['version in its SBOM', sbom?.metadata.component.version, version],
    ['packages of another architecture', foreign.map(({ purl }) => purl).join(' ') || 'none', 'none'],
  ]
  return expected.flatMap(([what, found, wanted]) =>
    found === wanted ? [] : [`${what}: ${found ?? 'missing'}, not ${wanted}`],
  )
}

const [{ Config: configName, Layers: layers } = { Config: '', Layers: [] }] = readEntry('manifest.json') as Manifest
const sbomText = readSbom(layers)
const differences = findDifferences(
  readEntry(configName) as Config,
  sbomText === '' ? undefined : (JSON.parse(sbomText) as Sbom),
)
for (const difference of differences) console.error(`${archive}: ${difference}`)
if (differences.length > 0) process.exitCode = 1
else process.stdout.write(sbomText)
