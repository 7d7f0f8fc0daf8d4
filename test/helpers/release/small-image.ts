import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { call } from '#test/helpers/release/clone.ts'

/** What an image states about itself; `package` is a Debian package with its architecture. */
export type ImageFacts = {
  readonly target: string
  readonly arch: string
  readonly commit: string
  readonly version: string
  readonly packageArch?: string
}

/** Writes the archive of an image, as `docker save` does, to `folder`/TARGET-ARCH.tar: one layer with an SBOM. */
export const writeSmallImage = async (folder: string, facts: ImageFacts): Promise<void> => {
  const { target, arch, commit, version, packageArch = arch } = facts
  const work = join(folder, `${target}-${arch}`)
  await mkdir(join(work, 'files/app'), { recursive: true })
  const purl = `pkg:deb/debian/tini@0.19.0-1?arch=${packageArch}&distro=debian-12&upstream=tini`
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'container', name: `shutterfleet-${target}`, version } },
    components: [{ type: 'library', name: 'tini', version: '0.19.0-1', purl }],
  }
  await writeFile(join(work, 'files/app/sbom.cdx.json'), JSON.stringify(sbom))
  await call('tar', ['--mtime=@0', '-C', join(work, 'files'), '-cf', join(work, 'layer.tar'), 'app'])
  const layer = createHash('sha256')
    .update(await call('cat', [join(work, 'layer.tar')]))
    .digest('hex')
  const labels = { 'org.opencontainers.image.revision': commit, 'org.opencontainers.image.version': version }
  const config = {
    architecture: arch,
    os: 'linux',
    config: { Labels: labels, Cmd: ['/bin/true'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  }
  await writeFile(join(work, 'config.json'), JSON.stringify(config))
  const manifest = [{ Config: 'config.json', RepoTags: [`shutterfleet/${target}:local`], Layers: ['layer.tar'] }]
  await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest))
  await call('tar', [
    '-C',
    work,
    '-cf',
    join(folder, `${target}-${arch}.tar`),
    'manifest.json',
    'config.json',
    'layer.tar',
  ])
}
