/** Path of the public URL, under which a reverse proxy serves the service; empty for most. It precedes that of this script. */
const basePath = /^(?<base>.*)\/console\/assets\//.exec(new URL(import.meta.url).pathname)?.groups?.['base'] ?? ''

/** A path of the service, such as `/v1/docs`, as browsers request it. */
export const servedPath = (path: string): string => basePath + path
