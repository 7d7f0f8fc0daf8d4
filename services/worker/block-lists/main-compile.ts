import { compileLists } from './compile-lists.ts'
import { readyLists } from './provide-lists.ts'
import { readLists } from './read-lists.ts'

/** Takes an operator's folder ('' for none) and where the result goes; by default where workers look first. */
const [folder = '', into = readyLists] = process.argv.slice(2)
await compileLists(await readLists(folder), into)
