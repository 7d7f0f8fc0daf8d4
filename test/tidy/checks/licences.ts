import { isAllowed } from '#tools/images/licences.ts'
import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

type Lock = {
  readonly packages: Readonly<Record<string, { readonly license?: string; readonly dev?: boolean }>>
}

/** npm packages that are not for development alone have a licence that may be shipped, as package-lock.json states it. */
export const licences = (files: readonly SourceFile[]): Finding[] =>
  files
    .filter(({ path }) => path === 'package-lock.json')
    .flatMap((file) =>
      Object.entries((JSON.parse(file.text) as Lock).packages)
        .filter(([path, { dev }]) => path !== '' && dev !== true)
        .map(([path, { license }]) => ({
          path,
          name: path.split('node_modules/').at(-1) ?? '',
          licence: license ?? 'none',
        }))
        .filter(({ name, licence }) => !isAllowed(name, licence))
        .map(({ path, name, licence }) =>
          findingAt(
            file,
            file.text.indexOf(`"${path}"`),
            'licences',
            `${name} has the licence ${licence}, which is not allowed`,
          ),
        ),
    )
