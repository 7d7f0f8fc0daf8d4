import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { call } from '#test/helpers/release/clone.ts'

/** What an image states about itself; `packages` are Debian packages with their versions. */
export type ImageFacts = {
  readonly target: string
  readonly arch: string
  readonly commit: string
  readonly version: string
  readonly packageArch?: string
  readonly packages?: Readonly<Record<string, string>>
}

/** Writes the archive of an image, as `docker save` does, to `folder`/TARGET-ARCH.tar: one layer with an SBOM. */
export const writeSmallImage = async (folder: string, facts: ImageFacts): Promise<void> => {
  const { target, arch, commit, version, packageArch = arch, packages = { tini: '0.19.0-1' } } = facts
  const work = join(folder, `${target}-${arch}`)
  await mkdir(join(work, 'files/app'), { recursive: true })
  const sbom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'container', name: `shutterfleet-${target}`, version } },
    components: Object.entries(packages).map(([name, each]) => ({
      type: 'library',
      name,
      version: each,
      purl: `pkg:deb/debian/${name}@${each}?arch=${packageArch}&distro=debian-12&upstream=${name}`,
    })),
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
