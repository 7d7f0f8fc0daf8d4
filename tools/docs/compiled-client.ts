import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = 'clients/typescript'

/**
 * The JavaScript and declarations that tsc makes of clients/typescript/src, by path: Node strips no types below node_modules.
 * Throws if a source does not compile.
 */
export const compiledClient = (root: string): Record<string, string> => {
  const made = mkdtempSync(join(tmpdir(), 'compiled-client-'))
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', join(root, folder), '--outDir', made], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const texts = readdirSync(made).map((name) => [`${folder}/dist/${name}`, readFileSync(join(made, name), 'utf8')])
    return Object.fromEntries(texts) as Record<string, string>
  } finally {
    rmSync(made, { recursive: true })
  }
}
