import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Package sources of apt in a folder; `env` lets apt of this machine use them alone. */
export type PackageSources = {
  readonly env: NodeJS.ProcessEnv
  /** Publishes packages, with their versions, in place of what was published. */
  readonly publish: (packages: Readonly<Record<string, string>>) => Promise<void>
}

/** Makes a repository of packages without their files in `folder`. */
export const createPackageSources = async (folder: string): Promise<PackageSources> => {
  const file = join(folder, 'apt.conf')
  await mkdir(join(folder, 'lists/partial'), { recursive: true })
  await mkdir(join(folder, 'repository'))
  await writeFile(join(folder, 'status'), '')
  await writeFile(join(folder, 'sources.list'), `deb [trusted=yes] file:${join(folder, 'repository')} ./\n`)
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State': folder,
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'APT::Sandbox::User': 'root',
  }
  await writeFile(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(''),
  )
  return {
    env: { APT_CONFIG: file },
    publish: (packages) =>
      writeFile(
        join(folder, 'repository/Packages'),
        Object.entries(packages)
          .map(
            ([name, version]) =>
              `Package: ${name}\nVersion: ${version}\nArchitecture: all\nFilename: ./${name}.deb\nSize: 1\n`,
          )
          .join('\n'),
      ),
  }
}
