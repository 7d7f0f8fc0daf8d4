import sharp from 'sharp'

/** A file of a site, by its path. */
export type SiteFile = { readonly type: string; readonly body: Buffer }

const photos = 12
const photo = { width: 320, height: 200 }
const rowHeight = 250

/** A picture with soft colours and some grain, the same in each run. */
const makePhoto = (seed: number): Promise<Buffer> => {
  const { width, height } = photo
  const raw = Buffer.alloc(width * height * 3)
  let noise = seed + 1
  for (let at = 0; at < raw.length; at += 1) {
    const pixel = Math.floor(at / 3)
    const [x, y, channel] = [pixel % width, Math.floor(pixel / width), at % 3]
    noise = (noise * 1_103_515_245 + 12_345) % 2 ** 31
    const wave = Math.sin((x * (channel + 1)) / 60 + seed) + Math.cos(y / (30 + seed) + channel)
    raw[at] = 128 + wave * 50 + (noise / 2 ** 31) * 16
  }
  return sharp(raw, { raw: { ...photo, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer()
}

const words = 'capture queue worker browser page image lease retry heartbeat condition cursor replica throttle'.split(
  ' ',
)

const paragraph = (seed: number, length: number): string =>
  Array.from({ length }, (_, index) => words[(seed * 7 + index * (1 + (seed % 5))) % words.length]).join(' ')

const card = (index: number, image: string) =>
  `<article><h2>Card ${index}</h2>${image}<p>${paragraph(index, 40)}</p></article>`

const style = `body { margin: 0; font: 15px/1.4 sans-serif; color: #223; background: #f6f7fb }
header { padding: 24px; color: white; background: linear-gradient(90deg, #246, #69c) }
main { display: grid; grid-template-columns: repeat(4, 1fr); gap: 16px; padding: 16px }
article { padding: 12px; background: white; border-radius: 8px; box-shadow: 0 1px 4px #0003 }
img { max-width: 100%; height: 120px; object-fit: cover }`

const script = (index: number) => `document.documentElement.dataset.script${index} = '${paragraph(index, 400)}'`

/** A page that makes `styles` + `scripts` + `images` requests beside its own. */
const composed = (counts: { styles: number; scripts: number; images: number }): string => {
  const list = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, n) => make(n)).join('')
  return `<!doctype html><html lang="en"><title>Cards</title>
${list(counts.styles, (n) => `<link rel="stylesheet" href="/style.css?${n}">`)}
${list(counts.scripts, (n) => `<script src="/script.js?${n}"></script>`)}
<header><h1>${counts.images} cards</h1></header>
<main>${list(counts.images, (n) => card(n, `<img alt="" src="/photo-${n % photos}.jpg?${n}">`))}</main>`
}

/** A page without sub-resources but the style, `height` CSS pixels high. */
const tall = (height: number): string => {
  const rows = Array.from({ length: height / rowHeight }, (_, n) => {
    const colours = `hsl(${(n * 37) % 360} 60% 80%), hsl(${(n * 53) % 360} 70% 90%)`
    return `<section style="height:${rowHeight}px;overflow:hidden;background:linear-gradient(90deg, ${colours})"><h2>Row ${n}</h2><p>${paragraph(n, 250)}</p></section>`
  })
  return `<!doctype html><html lang="en"><title>Tall</title><style>${style} section { box-sizing: border-box; padding: 8px } h2, p { margin: 0 }</style>${rows.join('')}`
}

/** A page that needs no request. */
export const inlineHtml = `<!doctype html><html lang="en"><title>Inline</title><style>${style}</style>
<header><h1>Inline</h1></header><main>${Array.from({ length: 12 }, (_, n) =>
  card(
    n,
    `<svg width="200" height="120"><circle cx="60" cy="60" r="${20 + n * 3}" fill="hsl(${n * 30} 70% 60%)"/></svg>`,
  ),
).join('')}</main>`

const text = (type: string, body: string): SiteFile => ({ type, body: Buffer.from(body) })

/** The benchmark's site: `/15` and `/63` make so many requests, `/tall-N` is N CSS pixels high. */
export const makeSite = async (): Promise<ReadonlyMap<string, SiteFile>> => {
  const pictures = await Promise.all(Array.from({ length: photos }, (_, seed) => makePhoto(seed)))
  return new Map([
    ['/15', text('text/html', composed({ styles: 2, scripts: 2, images: 10 }))],
    ['/63', text('text/html', composed({ styles: 4, scripts: 10, images: 48 }))],
    ['/tall-8000', text('text/html', tall(8000))],
    ['/tall-16000', text('text/html', tall(16_000))],
    ['/style.css', text('text/css', style)],
    ['/script.js', text('text/javascript', script(1))],
    ...pictures.map((body, n): [string, SiteFile] => [`/photo-${n}.jpg`, { type: 'image/jpeg', body }]),
  ])
}
