// Captures each page of the gallery some times (default: 2; an argument sets it) and by a bare browser, and draws all on one
// sheet: .tools/pictures/contact-sheet.png, beside the pictures. Names pages whose captures differ. Exits 1 if any do.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import sharp from 'sharp'
import { families } from '#test/fixtures/gallery/families.ts'
import type { GalleryFamily } from '#test/fixtures/gallery/page.ts'
import { content } from '#test/fixtures/reference/page.ts'
import { missingColours, pagePath, startGallery } from '#test/helpers/gallery.ts'
import { startCaptureEnvironment } from '#test/helpers/shots.ts'
import { similarity } from '#test/helpers/similarity.ts'

type Pair = {
  readonly name: string
  readonly verdict: string
  readonly isSteady: boolean
  readonly ours: Buffer
  readonly bare: Buffer
}

const folder = resolve(import.meta.dirname, '../../.tools/pictures')
const captures = Number(process.argv[2] ?? 2)
const thumbnail = { width: 300, height: 400 }

/** Runs `work` with a lifetime that ends after it. */
const withLifetime = async <T>(work: (lifetime: Parameters<typeof startGallery>[0]) => Promise<T>): Promise<T> => {
  const ends: (() => Promise<void>)[] = []
  try {
    return await work({ teardown: (end) => ends.push(end) })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

const takeFamily = (family: GalleryFamily) =>
  withLifetime(async (lifetime) => {
    const { shootPage, bare } = await startGallery(lifetime, family)
    const pairs: Pair[] = []
    for (const page of family.pages) {
      const reference = bare(page)
      const { bytes, sha256, warnings } = await shootPage(page)
      let isSteady = true
      for (let count = 1; count < captures; count += 1) isSteady &&= (await shootPage(page)).sha256 === sha256
      const { picture } = await reference
      const likeness = (await similarity(bytes, picture)).toFixed(3)
      const faults = [
        ...(await missingColours(bytes, page)),
        ...warnings.map(({ code }) => code),
        ...(isSteady ? [] : ['differs from capture to capture']),
      ]
      const verdict = [`${likeness}${page.differs ? `, as ${page.differs}` : ''}`, ...faults].join('; ')
      console.log(`${family.name}: ${page.name}: ${verdict}`)
      const [ours, theirs] = [Buffer.from(bytes), picture]
      await writeFile(join(folder, `${pagePath(page).slice(1)}.png`), ours)
      await writeFile(join(folder, `${pagePath(page).slice(1)}-bare.png`), theirs)
      pairs.push({ name: page.name, verdict, isSteady, ours, bare: theirs })
    }
    return pairs
  })

const thumbnailOf = async (picture: Buffer) => {
  const image = await sharp(picture)
    .resize({ ...thumbnail, fit: 'inside' })
    .png()
    .toBuffer()
  return `<img src="data:image/png;base64,${image.toString('base64')}">`
}

const figureOf = async ({ name, verdict, ours, bare }: Pair) =>
  `<figure><div>${await thumbnailOf(ours)}${await thumbnailOf(bare)}</div><figcaption><b>${name}</b><br>${verdict}</figcaption></figure>`

/** The pairs on one page, ours left and the bare browser's right. */
const drawSheet = (pairs: readonly Pair[]) =>
  withLifetime(async (lifetime) => {
    const style = `body { margin: 20px; font: 13px sans-serif; display: grid; grid-template-columns: repeat(4, 1fr); gap: 24px; background: #d1d9e0 }
      figure { margin: 0 } figure div { display: flex; gap: 6px; align-items: start } img { max-width: calc(50% - 3px) } b { font-size: 15px }`
    const figures = await Promise.all(pairs.map(figureOf))
    const document = `<!doctype html><meta charset="utf-8"><style>${style}</style>${figures.join('\n')}`
    const { pages, shoot } = await startCaptureEnvironment(lifetime, {
      '/sheet': content('text/html; charset=utf-8', document),
    })
    const sheet = { url: `${pages.url}/sheet`, width: 2000, height: 1200, full_page: true, timeout: 30 }
    return (await shoot(sheet)).bytes
  })

await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const pairs: Pair[] = []
for (const family of families) pairs.push(...(await takeFamily(family)))
await writeFile(join(folder, 'contact-sheet.png'), await drawSheet(pairs))
console.log(`${pairs.length} pages, each captured ${captures} times: .tools/pictures/contact-sheet.png`)
if (pairs.some(({ isSteady }) => !isSteady)) process.exitCode = 1
