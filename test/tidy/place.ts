import { dirname, join } from 'node:path/posix'

/** The folders of shared without I/O, clock or randomness. */
export const floor0 = ['capture', 'errors', 'policy', 'schema']

/** The location of a file in `services/`. `folder` is the first folder below the service, `''` for its top files. */
export type Place = { readonly service: string; readonly folder: string; readonly name: string }

/** The location of a path such as `services/shared/queue/subjects.ts`; undefined outside `services/`. */
export const placeOf = (path: string): Place | undefined => {
  const [top, service, ...rest] = path.split('/')
  const name = rest.at(-1)
  if (top !== 'services' || service === undefined || name === undefined) return undefined
  return { service, folder: rest.length > 1 ? (rest[0] ?? '') : '', name }
}

/** Whether the file starts a process: `main.ts`, `main-job.ts`, in any folder. */
export const isMain = (path: string): boolean => /(^|\/)main(-[a-z0-9-]+)?\.ts$/.test(path)

/** The repository path that a specifier names, for `./x.ts` and `#service/x.ts`; undefined for packages. */
export const targetOf = (from: string, specifier: string): string | undefined => {
  if (specifier.startsWith('.')) return join(dirname(from), specifier)
  if (specifier.startsWith('#test/')) return specifier.slice(1)
  return specifier.startsWith('#') ? `services/${specifier.slice(1)}` : undefined
}
