/** Where files state the version of a release, as the text around it. The dots of a version match nothing else: 10.1.0.0. */
const patterns = {
  chart: /(?<=^(?:version|appVersion): |shutterfleet\/(?:server|worker|worker-stealth):)\d[\w.-]*\w/gm,
  toml: /(?<=^version = ")[^"]+/gm,
  json: /(?<=^ {2}"version": ")[^"]+/gm,
  lock: /(?<="name": "shutterfleet",\n +"version": ")[^"]+/g,
  label: /(?<=org\.opencontainers\.image\.version=")[^"]+/g,
  image: /(?<=shutterfleet\/(?:server|worker|worker-stealth|\$target):)\d[\w.-]*\w/g,
  tag: /(?<=(?:targetRevision|tag): v)\d[\w.-]*\w/g,
}

const places: Readonly<Record<string, keyof typeof patterns>> = {
  'charts/shutterfleet/Chart.yaml': 'chart',
  'clients/python/pyproject.toml': 'toml',
  'clients/typescript/package.json': 'json',
  'package-lock.json': 'lock',
  Dockerfile: 'label',
  'docs/images.md': 'image',
  'docs/kubernetes.md': 'image',
  'docs/operations.md': 'image',
  'k8s/admission-policy.yaml': 'image',
  'k8s/argocd/application.yaml': 'tag',
  'k8s/flux/helm-release.yaml': 'tag',
  'k8s/pools/stealth.yaml': 'image',
}

/**
 * The files that state the version, by path, with that of package.json, which is the only source. Throws if a file no longer states
 * one where it is looked for. `read` returns the text of a path.
 */
export const versionFiles = (read: (path: string) => string): Readonly<Record<string, string>> => {
  const { version } = JSON.parse(read('package.json')) as { readonly version: string }
  return Object.fromEntries(
    Object.entries(places).map(([path, pattern]) => {
      const text = read(path)
      if (text.search(patterns[pattern]) === -1)
        throw new Error(`${path} states no version (${pattern}); see version-files.ts`)
      return [path, text.replaceAll(patterns[pattern], version)] as const
    }),
  )
}
