import { basename, join } from 'node:path'

const source = join(import.meta.dirname, '../../..')

/** Where the services' programs are: the folder that contains `services`, and the extension of their files. */
export type Programs = { readonly root: string; readonly extension: '.js' | '.ts' }

/** The programs beside the one that runs, in the same form: sources, or their bundle (`services/local/bundle.ts`). */
const running = ((main = ''): Programs => {
  const end = main.lastIndexOf('/services/')
  if (end === -1 || !basename(main).startsWith('main')) return { root: source, extension: '.ts' }
  return { root: main.slice(0, end), extension: main.endsWith('.js') ? '.js' : '.ts' }
})(process.argv[1])

/** The folder of the bundle that this process runs from; undefined if it runs from the sources. */
export const bundleFolder: string | undefined = running.extension === '.js' ? running.root : undefined

/** The file of a program, such as `gateway/main`. */
export const programPath = (name: string, { root, extension }: Programs = running): string =>
  join(root, 'services', name + extension)
