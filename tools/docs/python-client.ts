import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = 'clients/python/src/shutterfleet'

const intro = '"""The client. Generated from `_async_client.py` by `make docs`."""'

/** What differs in synchronous code, in the order of replacement. */
const replacements: readonly (readonly [from: RegExp, to: string])[] = [
  [/^""".*"""/, intro],
  [/\basync |\bawait /g, ''],
  [/\basyncio\b/g, 'time'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b__a(enter|exit)__/g, '__$1__'],
  [/\ba(close|read|iter_text)\b/g, '$1'],
]

/** The synchronous Python client, by path. */
export const pythonClient = (root: string): Readonly<Record<string, string>> => {
  const source = readFileSync(join(root, folder, '_async_client.py'), 'utf8')
  const text = replacements.reduce((done, [from, to]) => done.replace(from, to), source)
  return { [`${folder}/_client.py`]: text }
}
