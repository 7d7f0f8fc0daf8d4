// Small images of a release, published again as the packages of the distribution change.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { call, cloneForRelease } from '#test/helpers/release/clone.ts'
import { createPackageSources } from '#test/helpers/release/packages.ts'
import { startRegistry } from '#test/helpers/release/registry.ts'
import { writeSmallImage } from '#test/helpers/release/small-image.ts'

const folder = t.testdir({ images: {}, keys: {}, registry: {}, apt: {} })
const clone = join(folder, 'clone')
const { version, commit } = await cloneForRelease(clone)
const registry = await startRegistry(join(folder, 'registry'))
t.teardown(() => registry[Symbol.asyncDispose]())
const sources = await createPackageSources(join(folder, 'apt'))
const secret = { COSIGN_PASSWORD: 'of the test' }
for (const name of ['release', 'other'])
  await call('cosign', ['generate-key-pair', `--output-key-prefix=${join(folder, 'keys', name)}`], { env: secret })

const browser = 'chromium-headless-shell'
const settings = {
  ...secret,
  ...sources.env,
  VERSION: version,
  REGISTRY: `${registry.host}/team`,
  TARGETS: 'server worker',
  ARCHES: 'amd64 arm64',
  IMAGES: join(folder, 'images'),
  COSIGN_KEY: join(folder, 'keys/release.key'),
  GATE_PASSED: commit,
  NPM_SIGNATURES: 'skip',
  COMPOSE: 'skip',
}
const run = (script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) =>
  call(join(clone, 'scripts', script), args, { cwd: clone, env: { ...settings, ...env } })
const refusal = (env: NodeJS.ProcessEnv = {}) =>
  run('rebuild.sh', [], env).then(
    () => 'rebuilt',
    ({ stderr }: { readonly stderr: string }) => stderr,
  )
const reference = (target: string) => `${settings.REGISTRY}/shutterfleet/${target}`
/** Tags of an image but those of its signatures. */
const tags = async (target: string) =>
  (await call('crane', ['ls', reference(target)]))
    .split('\n')
    .filter((tag) => tag.startsWith(version))
    .toSorted()
const digestOf = async (name: string) => (await call('crane', ['digest', name])).trim()
/** Images as a build with this version of Chromium makes them, on arm64 perhaps with another one. */
const build = async (chromium: string, arm64 = chromium) => {
  const facts = { commit, version }
  for (const arch of ['amd64', 'arm64']) {
    const found = arch === 'arm64' ? arm64 : chromium
    await writeSmallImage(settings.IMAGES, { ...facts, arch, target: 'server', packages: { tini: found } })
    await writeSmallImage(settings.IMAGES, { ...facts, arch, target: 'worker', packages: { [browser]: found } })
  }
}

await build('156.0.2-1~deb12u1', '156.0.1-1~deb12u1')
await run('release.sh')
const released = await tags('worker')

t.test('rebuild: refuses a commit that is not of the release, and what is not signed by its key', async (t) => {
  await sources.publish({ [browser]: '156.0.2-1~deb12u1' })
  await call('git', ['tag', '--delete', `v${version}`], { cwd: clone })
  t.match(await refusal(), /this is not the commit of release/)
  await call('git', ['tag', `v${version}`], { cwd: clone })
  t.match(await refusal({ COSIGN_KEY: join(folder, 'keys/other.key') }), /is not complete, or not signed by COSIGN_KEY/)
  const [image, planted] = [`${reference('worker')}:${version}-amd64`, join(folder, 'planted')]
  const facts = { target: 'worker', arch: 'amd64', commit, version, packages: { [browser]: '999.0.0-1' } }
  await mkdir(planted)
  await writeSmallImage(planted, facts)
  await call('crane', ['push', join(planted, 'worker-amd64.tar'), image])
  t.match(await refusal(), /contents of \S+ could not be verified/)
  await call('crane', ['push', join(settings.IMAGES, 'worker-amd64.tar'), image])
})

t.test('rebuild: publishes nothing while the distribution has no newer Chromium', async (t) => {
  for (const packages of ['156.0.1-1~deb12u1', '155.9.9-1']) {
    await sources.publish({ [browser]: packages })
    t.match(await run('rebuild.sh'), new RegExp(`^nothing newer than in ${version}: ${browser} 156\\.0\\.1`))
  }
  await sources.publish({ tini: '9.9' })
  t.match(await refusal(), new RegExp(`package sources of this machine have no ${browser}`))
  t.strictSame(await tags('worker'), released)
})

t.test('rebuild: says what is newer than in any image; images with the old one, or without, are refused', async (t) => {
  await sources.publish({ [browser]: '156.0.2-1~deb12u1' })
  t.match(await run('rebuild.sh', ['look']), /^newer than in .*156\.0\.2-1~deb12u1, after 156\.0\.1-1~deb12u1/)
  t.match(await refusal(), /for arm64 has chromium-headless-shell 156\.0\.1-1~deb12u1, which is not newer/)
  await build('156.0.2-1~deb12u1')
  await writeSmallImage(settings.IMAGES, { target: 'worker', arch: 'arm64', commit, version })
  t.match(await refusal(), /the image worker for arm64 has no chromium-headless-shell/)
  t.strictSame(await tags('worker'), released)
})

t.test('rebuild: publishes signed images with the newer one, and values that pin them, once', async (t) => {
  await build('156.0.2-1~deb12u1')
  await run('rebuild.sh')
  t.strictSame(await tags('worker'), [...released, `${version}-r1`, `${version}-r1-amd64`, `${version}-r1-arm64`])
  const verified = ['--key', join(folder, 'keys/release.pub'), '--insecure-ignore-tlog', '--allow-http-registry']
  const values = await readFile(join(clone, `.tools/release/${version}-r1/values-${version}-r1.yaml`), 'utf8')
  for (const target of ['server', 'worker']) {
    const index = await digestOf(`${reference(target)}:${version}-r1`)
    await call('cosign', ['verify', ...verified, `${reference(target)}@${index}`])
    t.match(values, `  ${target}: { digest: '${index}' }`)
    const image = `${reference(target)}:${version}-r1-arm64`
    await call('cosign', ['verify-attestation', '--type=cyclonedx', ...verified, image])
  }
  t.match(await run('rebuild.sh'), new RegExp(`^nothing newer than in ${version}-r1: ${browser} 156\\.0\\.2`))
})

t.test('rebuild: what an interrupted one published is neither replaced nor taken for complete', async (t) => {
  await sources.publish({ [browser]: '156.0.3-1~deb12u1' })
  await build('156.0.3-1~deb12u1')
  const other = join(folder, 'other')
  await mkdir(other)
  const facts = { target: 'server', arch: 'amd64', commit, version, packages: { tini: 'of an interrupted one' } }
  await writeSmallImage(other, facts)
  await call('crane', ['push', join(other, 'server-amd64.tar'), `${reference('server')}:${version}-r2-amd64`])
  const before = await digestOf(`${reference('server')}:${version}-r2-amd64`)
  await run('rebuild.sh')
  t.equal(await digestOf(`${reference('server')}:${version}-r2-amd64`), before)
  t.ok((await tags('worker')).includes(`${version}-r3`))
})

t.test('rebuild: one that ends between the last index and its files is completed with the same images', async (t) => {
  await sources.publish({ [browser]: '156.0.4-1~deb12u1' })
  await build('156.0.4-1~deb12u1')
  const files = join(clone, '.tools/release')
  await rename(files, `${files}-aside`)
  await writeFile(files, '')
  t.match(await refusal(), /cannot create directory/)
  await rm(files)
  await rename(`${files}-aside`, files)
  const index = await digestOf(`${reference('worker')}:${version}-r4`)
  await run('rebuild.sh')
  t.match(await readFile(join(files, `${version}-r4/values-${version}-r4.yaml`), 'utf8'), index)
  t.match(await run('rebuild.sh'), new RegExp(`^nothing newer than in ${version}-r4: `))
})
