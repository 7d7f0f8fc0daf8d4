// Builds the console into .tools/console, or the folder that is given: node tools/console/build.ts [FOLDER]
// Does nothing if the folder was built from the same sources. Beside each file lie its .br and .gz; manifest.json lists all files.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import type { Metafile } from 'esbuild'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..', '..')
const sources = join(root, 'services/console')
const output = resolve(process.argv[2] ?? join(root, '.tools/console'))
const icon = join(root, 'services/shared/icon.svg')
const basePath = '/console/'

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

/** Of everything that the result is made of. */
const fingerprint = (): string => {
  const names = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const paths = [...names, icon, join(root, 'package-lock.json'), import.meta.filename].toSorted()
  return sha256(paths.map((path) => `${relative(root, path)} ${sha256(readFileSync(path))}\n`).join(''))
}

const builtFrom = (folder: string): string | undefined => {
  const manifest = join(folder, 'manifest.json')
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly sources: string }).sources
}

type Outputs = Metafile['outputs']

/** Bundles scripts and styles under names with a hash of their content. */
const bundle = async (folder: string): Promise<Outputs> => {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    entryPoints: [...['main.tsx', 'style/console.css'].map((name) => join(sources, name)), icon],
    absWorkingDir: root,
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    // Its base is not in an image.
    tsconfigRaw: '{}',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    metafile: true,
  })
  return metafile.outputs
}

const addressOf = (path: string) => `${basePath}assets/${basename(path)}`

/** Scripts that the first view needs besides `main.js`, which is followed to find them one after the other. */
const firstScripts = (outputs: Outputs): readonly string[] => {
  const first = new Set<string>()
  const follow = (path: string) => {
    if (first.has(path)) return
    first.add(path)
    for (const each of outputs[path]?.imports ?? []) if (each.kind === 'import-statement') follow(each.path)
  }
  for (const [path, { entryPoint = '' }] of Object.entries(outputs))
    if (/\/(main|views\/overview\/overview)\.tsx$/.test(entryPoint)) follow(path)
  return [...first].filter((path) => !basename(path).startsWith('main-')).map(addressOf)
}

const writePage = (folder: string, outputs: Outputs) => {
  const names = new Map(
    Object.keys(outputs).map((path) => [basename(path).replace(/-[A-Z0-9]{8}(?=\.\w+$)/, ''), addressOf(path)]),
  )
  const template = readFileSync(join(sources, 'index.html'), 'utf8')
  const page = template.replaceAll(/(?<=(?:href|src)=")[^"]+/g, (name) => {
    const built = names.get(name)
    if (built === undefined) throw new Error(`services/console/index.html names ${name}, which is not built`)
    return built
  })
  const preloads = firstScripts(outputs).map((address) => `    <link rel="modulepreload" href="${address}">\n`)
  writeFileSync(join(folder, 'index.html'), page.replace(/ *<script/, `${preloads.join('')}$&`))
}

/** Writes `.br` and `.gz` beside a file. Returns its entry in the manifest. */
const compress = (folder: string, path: string) => {
  const bytes = readFileSync(path)
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
  writeFileSync(`${path}.br`, brotli)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  return { path: relative(folder, path), bytes: bytes.length, brotliBytes: brotli.length, sha256: sha256(bytes) }
}

/** Another build at the same time may have made the same. */
const replaceOutput = (folder: string, from: string) => {
  rmSync(output, { recursive: true, force: true })
  try {
    renameSync(folder, output)
  } catch (error) {
    if (builtFrom(output) !== from) throw error
  }
}

const buildConsole = async (from: string) => {
  const folder = `${output}.${process.pid}`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    writePage(folder, await bundle(folder))
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const files = names.map((entry) => compress(folder, join(entry.parentPath, entry.name)))
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify({ sources: from, files }, undefined, 2)}\n`)
    replaceOutput(folder, from)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const now = fingerprint()
if (builtFrom(output) !== now) await buildConsole(now)
