import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Longest wait for the list of installed fonts. */
const listMs = 5000

const listed = (names: string): readonly string[] => names.trim().split(/,\s*/)

/** Families of Windows and macOS, and those that pages often name without a generic one, by the family that draws them. */
const families: Readonly<Record<string, readonly string[]>> = {
  'Noto Sans': listed('Lucida Grande, Lucida Sans Unicode, Open Sans, Verdana'),
  'Liberation Sans': listed(`
    -apple-system, BlinkMacSystemFont, San Francisco, SF Pro Display, SF Pro Text, ui-rounded, ui-sans-serif, Avenir, Avenir Next, Geneva,
    Helvetica Neue, Inter, Lato, Optima, Roboto, Ubuntu, Calibri, Candara, Corbel, Segoe UI, Segoe UI Variable, Tahoma, Trebuchet MS,
    Century Gothic, Comic Sans MS, Franklin Gothic Medium, Futura, Gill Sans, Impact`),
  'Noto Sans CJK JP': listed('Hiragino Kaku Gothic ProN, Hiragino Sans, Meiryo, MS Gothic, MS PGothic, Yu Gothic'),
  'Noto Sans CJK KR': listed('Apple SD Gothic Neo, Malgun Gothic'),
  'Noto Sans CJK SC': listed('Heiti SC, Hiragino Sans GB, Microsoft YaHei, PingFang SC, SimHei'),
  'Noto Sans CJK TC': listed('Microsoft JhengHei, PingFang TC'),
  'Liberation Serif': listed('Cambria, Constantia, ui-serif'),
  'Liberation Mono': listed(`
    Andale Mono, Cascadia Code, Cascadia Mono, Consolas, Lucida Console, Menlo, Monaco, Roboto Mono, SF Mono, SFMono-Regular,
    Source Code Pro, ui-monospace`),
}

const rule = (name: string, family: string) =>
  `<match target="pattern"><test name="family"><string>${name}</string></test><edit name="family" mode="assign" binding="same"><string>${family}</string></edit></match>`

/** A configuration of fontconfig that adds the aliases of families that are not installed, in small letters, to the machine's own. */
export const fontAliases = (installed: ReadonlySet<string>): string => {
  const rules = Object.entries(families).flatMap(([family, names]) =>
    names.filter((name) => !installed.has(name.toLowerCase())).map((name) => rule(name, family)),
  )
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">',
    '<fontconfig>',
    ...rules,
    '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>',
    '</fontconfig>\n',
  ].join('\n')
}

const listFamilies = async (): Promise<ReadonlySet<string>> => {
  const { stdout } = await promisify(execFile)('fc-list', [':', 'family'], { timeout: listMs })
  return new Set(stdout.toLowerCase().split(/[,\n]/))
}

/** Writes `fontAliases` into a folder and returns the file; without fontconfig's programs no family is taken for installed. */
export const writeFontAliases = async (folder: string): Promise<string> => {
  const path = join(folder, 'fonts.conf')
  await writeFile(path, fontAliases(await listFamilies().catch(() => new Set<string>())))
  return path
}
