import { link, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { call, cloneForRelease, prepareNextRelease } from './clone.ts'
import { type Registry, startRegistry } from './registry.ts'

const root = resolve(import.meta.dirname, '../../..')
const buildMs = 1_800_000
const secret = { COSIGN_PASSWORD: 'of the test' }
/** What a clone builds itself; layers, base and the other images are those of the working tree. */
const own = /^(?:server|worker|worker-stealth)\.|^imported-/

/** A release of this repository in a registry of this machine. */
export type Published = {
  readonly version: string
  /** Helm's arguments for the chart, by digest, with the images' digests. */
  readonly chart: readonly string[]
  /** `REPOSITORY@DIGEST` of an image. */
  readonly image: (target: 'server' | 'worker') => Promise<string>
  readonly chartDigest: string
  /** Runs the commands of docs/releases.md that verify it, and returns the digest that they print; rejects if one fails. */
  readonly verify: (publicKey?: string) => Promise<string>
}

/** A registry with a release of all images, of the last commit or of `UPGRADE_FROM`, and a next one of the last commit. */
export type Publication = AsyncDisposable & {
  readonly registry: Registry
  readonly first: Published
  readonly next: Published
  /** A public key that signed nothing. */
  readonly otherKey: string
}

/** Makes both releases with `make release`, in a clone in the empty `folder`. Needs scripts/build-images.sh. */
export const publishReleases = async (folder: string): Promise<Publication> => {
  for (const name of ['images', 'keys', 'registry']) await mkdir(join(folder, name))
  const clone = join(folder, 'clone')
  const content = await cloneForRelease(clone, { commit: process.env['UPGRADE_FROM'] ?? 'HEAD' })
  await shareLayers(clone)
  const [signer, other] = ['release', 'other'].map((name) => join(folder, 'keys', name)) as [string, string]
  for (const key of [signer, other]) {
    await call('cosign', ['generate-key-pair', `--output-key-prefix=${key}`], { env: secret })
  }
  const registry = await startRegistry(join(folder, 'registry'))
  const place = { folder, clone, signer, registry: `${registry.host}/team` }
  const first = await publish(place, { ...content, targets: ['server', 'worker', 'worker-stealth'] })
  const next = await publish(place, { ...(await prepareNextRelease(clone)), targets: ['server', 'worker'] })
  return {
    registry,
    first,
    next,
    otherKey: `${other}.pub`,
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  }
}

const shareLayers = async (clone: string) => {
  const [from, to] = [root, clone].map((each) => join(each, '.tools/images')) as [string, string]
  await mkdir(to)
  for (const name of await readdir(from)) if (!own.test(name)) await symlink(join(from, name), join(to, name))
}

type Place = Readonly<Record<'folder' | 'clone' | 'registry' | 'signer', string>>
type Content = { readonly version: string; readonly commit: string; readonly targets: readonly string[] }

const publish = async (
  { folder, clone, registry, signer }: Place,
  { version, commit, targets }: Content,
): Promise<Published> => {
  const images = join(folder, 'images')
  await call(join(clone, 'scripts/build-images.sh'), targets, { cwd: clone, withinMs: buildMs })
  for (const target of targets) {
    await link(join(clone, `.tools/images/${target}.tar`), join(images, `${target}-amd64.tar`))
  }
  const env = {
    ...secret,
    VERSION: version,
    REGISTRY: registry,
    TARGETS: targets.join(' '),
    ARCHES: 'amd64',
    IMAGES: images,
    COSIGN_KEY: `${signer}.key`,
    GATE_PASSED: commit,
    // Registries of tests sign nothing, and compose.yaml names images of public ones.
    NPM_SIGNATURES: 'skip',
    COMPOSE: 'skip',
  }
  await call(join(clone, 'scripts/release.sh'), [], { cwd: clone, env, withinMs: buildMs })
  for (const target of targets) await rm(join(images, `${target}-amd64.tar`))

  const out = join(clone, '.tools/release', version)
  const digestOf = async (name: string) => (await call('crane', ['digest', `${registry}/${name}:${version}`])).trim()
  const chartDigest = await digestOf('charts/shutterfleet')
  return {
    version,
    chartDigest,
    chart: [
      `oci://${registry}/charts/shutterfleet@${chartDigest}`,
      '--plain-http',
      `--values=${join(out, `values-${version}.yaml`)}`,
    ],
    image: async (target) => `${registry}/shutterfleet/${target}@${await digestOf(`shutterfleet/${target}`)}`,
    verify: async (key = `${signer}.pub`) => {
      const commands = await documented({ registry, version, key })
      const printed = await call('bash', ['-euo', 'pipefail', '-c', commands], { cwd: out })
      return printed.trim().split('\n').at(-1) ?? ''
    },
  }
}

/** The commands below "Verify one", for a registry without TLS. */
const documented = async ({ registry, version, key }: { registry: string; version: string; key: string }) => {
  const page = await readFile(join(root, 'docs/releases.md'), 'utf8')
  const [, commands] = /^## Verify one\n[^]*?\n```sh\n([^]*?)\n```\n/m.exec(page) ?? []
  if (!commands?.includes('cosign verify-blob'))
    throw new Error('docs/releases.md has no commands that verify a release')
  return commands
    .replaceAll('images.example.com/team', registry)
    .replaceAll('1.2.3', version)
    .replaceAll('shutterfleet.pub', key)
    .replaceAll(/cosign (verify|verify-attestation) /g, 'cosign $1 --allow-http-registry ')
}
