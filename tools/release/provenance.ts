// provenance.ts COMMIT VERSION TARGET ARCH: prints the predicate of an SLSA provenance 1.0 (https://slsa.dev/spec/v1.0/provenance): what
// an image or chart was made of. BUILDER_ID is a URI of the machine or service that made it, REPOSITORY that of the commit's repository.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [commit = '', version = '', target = '', arch = ''] = process.argv.slice(2)
const { BUILDER_ID: builder = 'urn:shutterfleet:built-by-hand', REPOSITORY: repository = 'urn:shutterfleet:source' } =
  process.env

/** A file of the commit, as in-toto's resource descriptor. */
const fileOf = (path: string) => ({
  uri: `${repository}@${commit}#${path}`,
  digest: { sha256: createHash('sha256').update(readFileSync(path)).digest('hex') },
})

const predicate = {
  buildDefinition: {
    buildType: 'https://shutterfleet.dev/release/v1',
    externalParameters: { version, target, arch },
    internalParameters: {},
    resolvedDependencies: [
      { uri: `${repository}@${commit}`, digest: { gitCommit: commit } },
      ...(target === 'chart' ? [] : ['Dockerfile', 'package-lock.json', 'scripts/bootstrap.sh'].map(fileOf)),
    ],
  },
  runDetails: { builder: { id: builder }, metadata: { finishedOn: new Date().toISOString() } },
}
process.stdout.write(JSON.stringify(predicate))
