/** Path of the public URL, under which a reverse proxy serves all, without a slash at its end: empty for most. */
export const publicPath = (publicUrl: string): string => (URL.parse(publicUrl)?.pathname ?? '').replace(/\/+$/, '')

/** A request's target without the public path, which some proxies remove and others pass on. */
export const withoutPublicPath = (target: string, path: string): string =>
  path !== '' && target.startsWith(`${path}/`) ? target.slice(path.length) : target
