import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'

const runMs = 20_000

/** A script's fontconfig pattern, and the font files of Debian's packages for it. */
type Script = { readonly pattern: string; readonly files: readonly string[] }

/** The check fails without these. */
const required: Readonly<Record<string, Script>> = {
  Latin: { pattern: ':lang=en', files: ['LiberationSans-Regular.ttf'] },
  CJK: { pattern: ':lang=ja', files: ['NotoSansCJK-Regular.ttc', 'wqy-microhei.ttc', 'wqy-zenhei.ttc'] },
  emoji: { pattern: ':lang=und-zsye', files: ['NotoColorEmoji.ttf'] },
}

/** Noto font names with a letter of the script in hexadecimal; not a language, which may have several scripts. */
const others: Readonly<Record<string, Script>> = Object.fromEntries(
  Object.entries({
    Arabic: '628',
    Armenian: '562',
    Bengali: '985',
    Cherokee: '13a0',
    Devanagari: '905',
    Ethiopic: '1200',
    Georgian: '10d0',
    Gujarati: 'a85',
    Gurmukhi: 'a05',
    Hebrew: '5d0',
    Kannada: 'c85',
    Khmer: '1780',
    Lao: 'e81',
    Malayalam: 'd05',
    Mongolian: '1820',
    Myanmar: '1000',
    Oriya: 'b05',
    Sinhala: 'd85',
    Tamil: 'b85',
    Telugu: 'c05',
    Thaana: '780',
    Thai: 'e01',
    Tibetan: 'f40',
  }).map(([name, letter]) => [
    name,
    { pattern: `:charset=${letter}`, files: ['Sans', 'Serif'].map((kind) => `Noto${kind}${name}-Regular.ttf`) },
  ]),
)

/** Counts the font files of a script. */
export type CountFonts = (script: Script) => Promise<number>

/** Counts with fc-list; by file names in /usr/share/fonts if that program is missing. */
export const countFonts: CountFonts = async ({ pattern, files }) => {
  try {
    const { stdout } = await promisify(execFile)('fc-list', [pattern, 'file'], { timeout: runMs })
    return stdout.split('\n').filter((each) => each !== '').length
  } catch {
    const found = await readdir('/usr/share/fonts', { recursive: true }).catch(() => [])
    return found.filter((path) => files.includes(basename(path))).length
  }
}

const findMissing = async (scripts: Readonly<Record<string, Script>>, count: CountFonts): Promise<string[]> => {
  const counted = await Promise.all(
    Object.entries(scripts).map(async ([name, script]) => ({ name, files: await count(script) })),
  )
  return counted.flatMap(({ name, files }) => (files === 0 ? [name] : []))
}

/** Describes which scripts have fonts. Throws if Latin, CJK or emoji have none. */
export const checkFonts = async (count: CountFonts): Promise<string> => {
  const missing = await findMissing(required, count)
  const missingOthers = await findMissing(others, count)
  const boxes = missingOthers.length === 0 ? '' : `; boxes for ${missingOthers.join(', ')}: install fonts-noto-core`
  if (missing.length > 0) throw new Error(`none for ${missing.join(', ')}${boxes}`)
  const all = Object.keys(required).length + Object.keys(others).length
  return `for ${all - missingOthers.length} of ${all} scripts${boxes}`
}
