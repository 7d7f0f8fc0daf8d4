import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

/** Split so that no pattern matches its own line. */
const patterns: readonly { readonly text: RegExp; readonly reason: string }[] = [
  {
    text: /\bregistry\.[\w-]+\.(?:org|com|io|net|dev|cn)\b|\bpypi\.[a-z]|\bfiles\.python(?:hosted)|\bnpm(?:js)\b|\bproxy\.golang|\bdeb\.debian/gi,
    reason: 'the host name of a package registry is a setting of the machine',
  },
  { text: /(?<![\w./-])\/(?:work|farm|root|home)\//g, reason: 'a private path of one machine' },
  { text: /\b(?:TO)DO\b|\b(?:FIX)ME\b/g, reason: 'do it now or write an issue' },
]

/** No tracked text names a package registry's host or a private path, or leaves work for later. */
export const forbiddenText = (files: readonly SourceFile[]): Finding[] =>
  files.flatMap((file) =>
    patterns.flatMap(({ text, reason }) =>
      [...file.text.matchAll(text)].map((match) =>
        findingAt(file, match.index, 'forbidden-text', `${match[0]}: ${reason}`),
      ),
    ),
  )
