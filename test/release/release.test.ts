import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { call, cloneForRelease, programs } from '#test/helpers/release/clone.ts'
import { startRegistry } from '#test/helpers/release/registry.ts'
import { writeSmallImage } from '#test/helpers/release/small-image.ts'

const folder = t.testdir({ images: {}, keys: {}, registry: {}, second: {}, project: {} })
const clone = join(folder, 'clone')
const registry = await startRegistry(join(folder, 'registry'))
const second = await startRegistry(join(folder, 'second'))
t.teardown(() => Promise.all([registry, second].map((each) => each[Symbol.asyncDispose]())))
/** An image of others, for compose.yaml. */
const outside = `${second.host}/postgres:18`
const { version, commit } = await cloneForRelease(clone, {
  compose: `services: { shutterfleet: { image: shutterfleet/worker-stealth:local }, postgres: { image: ${outside} } }\n`,
})
const targets = ['server', 'worker-stealth'] as const
const arches = ['amd64', 'arm64'] as const
const images = join(folder, 'images')
const secret = { COSIGN_PASSWORD: 'of the test' }
for (const name of ['release', 'other']) {
  await call('cosign', ['generate-key-pair', `--output-key-prefix=${join(folder, 'keys', name)}`], { env: secret })
}
for (const target of targets) {
  for (const arch of arches) await writeSmallImage(images, { target, arch, commit, version })
}
await call('crane', ['push', join(images, 'server-amd64.tar'), outside])

const settings = {
  ...secret,
  VERSION: version,
  REGISTRY: `${registry.host}/team`,
  TARGETS: targets.join(' '),
  IMAGES: images,
  COSIGN_KEY: join(folder, 'keys/release.key'),
  GATE_PASSED: commit,
  // Registries of tests sign nothing.
  NPM_SIGNATURES: 'skip',
}
const publicKey = join(folder, 'keys/release.pub')
const out = join(clone, '.tools/release', version)
const release = (env: Readonly<Record<string, string>> = {}) =>
  call(join(clone, 'scripts/release.sh'), [], { cwd: clone, env: { ...settings, ...env } })
const refusal = (env: Readonly<Record<string, string>> = {}) =>
  release(env).then(
    () => 'released',
    ({ stderr }: { readonly stderr: string }) => stderr,
  )
const verify = (command: readonly string[], reference: string, key = publicKey) =>
  call('cosign', [...command, '--key', key, '--insecure-ignore-tlog', '--allow-http-registry', reference])
const server = `${settings.REGISTRY}/shutterfleet/server`
const chart = `${settings.REGISTRY}/charts/shutterfleet`
const digestOf = async (reference: string) => (await call('crane', ['digest', reference])).trim()
/** Every file of the registry with the time of its last change. */
const contentOf = async ({ folder: content }: { readonly folder: string }) => {
  const names = await readdir(content, { recursive: true })
  return Promise.all(names.map(async (name) => `${name} ${(await stat(join(content, name))).mtimeMs}`))
}

t.test('release: refuses what is not ready', async (t) => {
  t.match(await refusal({ VERSION: '1.2' }), /VERSION must be a version such as 1\.2\.3/)
  t.match(await refusal({ REGISTRY: 'https://images.example.com' }), /REGISTRY must be a registry, .* without https/)
  t.match(await refusal({ TARGETS: 'server browser' }), /TARGETS names browser/)
  t.match(await refusal({ ARCHES: 'riscv64' }), /ARCHES names riscv64/)
  t.match(await refusal({ VERSION: '99.0.0' }), new RegExp(`package\\.json states version ${version}, not 99\\.0\\.0`))
  t.match(await refusal({ GATE_PASSED: '' }), /the gate has not passed for this commit/)
  t.match(await refusal({ COSIGN_KEY: '' }), /set COSIGN_KEY, or SIGNER and SIGNER_ISSUER/)
  // Serves no signing keys, and connects nowhere.
  const nothing = `http://${second.host}`
  const npm = { NPM_SIGNATURES: '', NPM_CONFIG_REGISTRY: nothing, HTTPS_PROXY: nothing, https_proxy: nothing }
  t.match(await refusal(npm), /npm packages could not be verified/)

  await writeFile(join(clone, 'new-file'), '')
  t.match(await refusal(), /the working tree has changes/)
  await rm(join(clone, 'new-file'))

  await call('git', ['tag', `v${version}`, 'HEAD~1'], { cwd: clone })
  t.match(await refusal(), /the tag .* is another commit/)
  await call('git', ['tag', '--delete', `v${version}`], { cwd: clone })
  t.notOk((await contentOf(registry).catch(() => [])).length, 'nothing is published')
})

t.test('release: refuses a change log without the date, and a file that states another version', async (t) => {
  const planted = [
    { path: 'CHANGELOG.md', from: `${version}, 2026-01-02`, to: `${version}, unreleased`, message: /no section/ },
    {
      path: 'charts/shutterfleet/Chart.yaml',
      from: `version: ${version}`,
      to: 'version: 9.9.9',
      message: /Chart\.yaml is not/,
    },
  ]
  for (const { path, from, to, message } of planted) {
    await writeFile(join(clone, path), (await readFile(join(clone, path), 'utf8')).replace(from, to))
    await call('git', ['commit', '--quiet', '--all', '--message', 'Planted'], { cwd: clone })
    const passed = (await call('git', ['rev-parse', 'HEAD'], { cwd: clone })).trim()
    t.match(await refusal({ GATE_PASSED: passed }), message)
    await call('git', ['reset', '--quiet', '--hard', commit], { cwd: clone })
  }
})

t.test('release: refuses an image of another commit, version, architecture or target', async (t) => {
  const facts = { target: 'server', arch: 'arm64', commit, version }
  const planted = [
    { facts: { ...facts, commit: '0'.repeat(40) }, message: /label revision: 0{40}, not/ },
    { facts: { ...facts, version: '9.9.9' }, message: /label version: 9\.9\.9, not/ },
    { facts: { ...facts, packageArch: 'amd64' }, message: /packages of another architecture: pkg:deb\/debian\/tini/ },
  ]
  for (const each of planted) {
    await writeSmallImage(images, each.facts)
    t.match(await refusal({ TARGETS: 'server', ARCHES: 'arm64' }), each.message)
  }
  await copyFile(join(images, 'worker-stealth-arm64.tar'), join(images, 'server-arm64.tar'))
  t.match(await refusal({ TARGETS: 'server', ARCHES: 'arm64' }), /name in its SBOM: shutterfleet-worker-stealth, not/)
  await writeSmallImage(images, facts)
})

t.test('release: pushes nothing to a registry that it cannot read', async (t) => {
  const closed = createServer((_, response) => response.writeHead(403).end()).listen(0, 'localhost')
  t.teardown(() => closed.close())
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  const text = await refusal({ REGISTRY: `localhost:${port}/team` })
  t.match(text, /server:\S+-amd64 could not be read from the registry/)
  t.notMatch(text, /pushing/)
})

t.test('release: an interrupted one is completed by another run', async (t) => {
  const REGISTRY = `${second.host}/team`
  const env = {
    ...process.env,

    PATH: [...programs, process.env['PATH']].join(':'),
    ...settings,
    REGISTRY,
  }
  const first = spawn('env', ['--unset=NODE_OPTIONS', join(clone, 'scripts/release.sh')], {
    cwd: clone,
    env,
    stdio: 'ignore',
    detached: true,
  })
  const ended = once(first, 'exit')
  await eventually(() => digestOf(`${REGISTRY}/shutterfleet/server:${version}-amd64`).then(Boolean), {
    withinMs: 120_000,
    what: 'the first image is pushed',
  })
  process.kill(-(first.pid ?? 0), 'SIGKILL')
  await ended
  await t.rejects(digestOf(`${REGISTRY}/charts/shutterfleet:${version}`), 'it ended early')
  await release({ REGISTRY })
  await verify(['verify'], `${REGISTRY}/charts/shutterfleet:${version}`)
  await verify(['verify'], `${REGISTRY}/shutterfleet/worker-stealth:${version}`)
})

t.test('release: images are found by digest, for both architectures, signed and attested', async (t) => {
  await release()
  for (const target of targets) {
    const reference = `${settings.REGISTRY}/shutterfleet/${target}`
    const pinned = `${reference}@${await digestOf(`${reference}:${version}`)}`
    await verify(['verify'], pinned)
    const index = JSON.parse(await call('crane', ['manifest', pinned])) as {
      manifests: { digest: string; platform: { architecture: string } }[]
    }
    t.strictSame(
      index.manifests.map(({ platform }) => platform.architecture),
      arches,
    )
    for (const { digest, platform } of index.manifests) {
      await verify(['verify'], `${reference}@${digest}`)
      const sbom = await verify(['verify-attestation', '--type=cyclonedx'], `${reference}@${digest}`)
      t.match(sbom, /"payload"/)
      const origin = await verify(['verify-attestation', '--type=slsaprovenance1'], `${reference}@${digest}`)
      const { payload } = JSON.parse(origin) as { payload: string }
      t.match(JSON.parse(Buffer.from(payload, 'base64').toString()), {
        subject: [{ digest: { sha256: digest.replace('sha256:', '') } }],
        predicate: {
          buildDefinition: {
            externalParameters: { version, target, arch: platform.architecture },
            resolvedDependencies: [{ digest: { gitCommit: commit } }],
          },
        },
      })
    }
  }
  t.equal((await call('git', ['rev-parse', `v${version}^{commit}`], { cwd: clone })).trim(), commit, 'the tag')
})

t.test('release: the chart is rendered out of the registry by digest, with the published images', async (t) => {
  await verify(['verify'], `${chart}@${await digestOf(`${chart}:${version}`)}`)
  await verify(['verify-attestation', '--type=slsaprovenance1'], `${chart}@${await digestOf(`${chart}:${version}`)}`)
  const values = [join(clone, 'charts/shutterfleet/ci/minimal-values.yaml'), join(out, `values-${version}.yaml`)]
  for (const helm of ['helm3', 'helm4']) {
    const pinned = `oci://${chart}@${await digestOf(`${chart}:${version}`)}`
    const args = ['template', 'shots', pinned, '--plain-http', '--kube-version=1.36.0']
    const text = await call(helm, [...args, ...values.map((file) => `--values=${file}`)])
    t.match(text, `image: ${server}@${await digestOf(`${server}:${version}`)}`, helm)
  }
})

t.test('release: compose.yaml has all images by digest', async (t) => {
  const own = `${settings.REGISTRY}/shutterfleet/worker-stealth`
  const text = await readFile(join(out, 'compose.yaml'), 'utf8')
  t.match(text, `image: ${own}@${await digestOf(`${own}:${version}`)} `)
  t.match(text, `image: ${outside}@${await digestOf(outside)} `)
})

t.test('release: checksums are signed; the npm tarball and the wheel install and load', async (t) => {
  await call('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })
  const sums = join(out, 'SHA256SUMS')
  const verifySums = (file: string) =>
    call('cosign', [
      'verify-blob',
      '--key',
      publicKey,
      '--insecure-ignore-tlog',
      `--bundle=${sums}.sigstore.json`,
      file,
    ])
  await verifySums(sums)
  const forged = join(folder, 'forged-sums')
  await writeFile(forged, `${await readFile(sums, 'utf8')}0000  forged\n`)
  await t.rejects(verifySums(forged))
  const listed = await readFile(sums, 'utf8')
  for (const name of [
    'THIRD-PARTY.txt',
    'compose.yaml',
    'cosign.pub',
    'openapi.json',
    'release-notes.md',
    'server-arm64.cdx.json',
    'shutterfleet-worker.json',
    `shutterfleet-${version}.tgz`,
  ]) {
    t.match(listed, `  ${name}\n`)
  }

  const project = join(folder, 'project')
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  await call('npm', ['install', '--offline', '--no-audit', join(out, `shutterfleet-client-${version}.tgz`)], {
    cwd: project,
  })
  const code =
    "import { Shutterfleet } from '@shutterfleet/client'; console.log(typeof new Shutterfleet({ baseUrl: 'http://x', apiKey: 'k' }).capture)"
  t.equal(await call(process.execPath, ['--input-type=module', '--eval', code], { cwd: project }), 'function\n')

  const wheel = join(out, `shutterfleet-${version}-py3-none-any.whl`)
  await call('python3', [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--no-index',
    '--target',
    join(project, 'python'),
    wheel,
  ])
  t.equal(
    (
      await call('python3', ['-c', 'from importlib.metadata import version; print(version("shutterfleet"))'], {
        env: { PYTHONPATH: join(project, 'python') },
      })
    ).trim(),
    version,
  )
})

t.test('release: another run changes nothing', async (t) => {
  const [content, sums] = [await contentOf(registry), await readFile(join(out, 'SHA256SUMS'), 'utf8')]
  await release()
  t.strictSame(await contentOf(registry), content)
  t.equal(await readFile(join(out, 'SHA256SUMS'), 'utf8'), sums)
})

t.test('release: another key verifies nothing; a replaced image is neither verified nor taken over', async (t) => {
  await t.rejects(verify(['verify'], `${server}:${version}`, join(folder, 'keys/other.pub')))
  await t.rejects(
    verify(['verify-attestation', '--type=cyclonedx'], `${server}:${version}-amd64`, join(folder, 'keys/other.pub')),
  )

  const forged = join(folder, 'forged')
  await mkdir(forged)
  await writeSmallImage(forged, { target: 'server', arch: 'amd64', commit: '0'.repeat(40), version })
  await call('crane', ['push', join(forged, 'server-amd64.tar'), `${server}:${version}-amd64`])
  const verification = verify(['verify'], `${server}:${version}-amd64`).catch(
    (error: { readonly stderr: string }) => error.stderr,
  )
  t.match(await verification, /no (?:matching )?signatures/)
  t.match(await refusal(), /server:\S+-amd64 is published with another content/)
  await call('crane', ['push', join(images, 'server-amd64.tar'), `${server}:${version}-amd64`])
  await call('crane', ['push', join(forged, 'server-amd64.tar'), `${server}:${version}`])
  t.match(await refusal(), /server:\S+ is published with another content/)
})
