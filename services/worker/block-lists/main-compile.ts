import { compileLists } from './compile-lists.ts'
import { readyLists } from './provide-lists.ts'
import { readLists } from './read-lists.ts'

/** Arguments: an operator's folder ('' for none) and the target folder, by default the one that workers read. */
const [folder = '', outputFolder = readyLists] = process.argv.slice(2)
await compileLists(await readLists(folder), outputFolder)
