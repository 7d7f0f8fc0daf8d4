/** Licences of npm packages that may be in a release: permissive ones, and MPL-2.0, whose files are shipped as they are published. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'PSF-2.0',
  'Unlicense',
])

/** libvips is a shared library of its own package, so that it can be replaced, as the LGPL demands; also in sharp's other builds. */
const allowedFor = [{ packages: /^@img\/sharp-/, licence: 'LGPL-3.0-or-later' }]

/**
 * Whether a package may be shipped under an SPDX expression: one alternative of which every licence is allowed. Parentheses are only
 * understood around all of it.
 */
export const isAllowed = (name: string, expression: string): boolean =>
  expression
    .replace(/^\(([^()]*)\)$/, '$1')
    .split(' OR ')
    .some((alternative) =>
      alternative
        .split(' AND ')
        .every(
          (licence) =>
            allowed.has(licence) || allowedFor.some((each) => each.licence === licence && each.packages.test(name)),
        ),
    )

/** The short names of licences in a file of Debian's machine-readable format (DEP-5); none of a file in plain text. */
export const debianLicences = (copyright: string): string[] =>
  copyright.startsWith('Format:')
    ? [...new Set([...copyright.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name = '']) => name.trim()))].toSorted()
    : []

/** Whether a Debian package of this section is of `main`, all of which is free software; those of other areas name theirs. */
export const isMain = (section: string): boolean => section !== '' && !section.includes('/')
