import { createHash } from 'node:crypto'
import sharp from 'sharp'
import t from 'tap'
import { isRendition } from '#shared/capture/files.ts'
import { outputNames } from '#shared/capture/parameters/kinds.ts'
import { blue, contentsOf, pixel, red, startCaptureEnvironment } from '#test/helpers/shots.ts'

const article = `<!doctype html><html lang="en"><title>Tides</title><body style="margin:0;background:rgb(0,0,255)">
  <h1>Tides</h1><p>Read <a href="/more?token=1">more <b>here</b></a>, or <a href="https://user:secret@example.com/">there</a>.</p>
  <table><tr><th>Harbour</th><th>High</th></tr><tr><td>Brest</td><td>6.9</td></tr></table>
  <form style="display:none"><button name="remove">drop</button><input name="checkVisibility"></form>
  <button aria-label="Close">x</button><a href="javascript:go()">run</a><p style="display:none">hidden</p>
  <script>document.querySelector('h1').textContent += ' of today'</script>`
const { pages, shoot } = await startCaptureEnvironment(t, {
  '/article': (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(article),
  '/long': (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>short</p><!--${'a'.repeat(5_100_000)}-->`),
})

t.test('worker files: outputs are the content of the rendered page, behind an image of the same load', async (t) => {
  const shot = await shoot({ url: `${pages.url}/article`, outputs: [...outputNames] })
  t.same(shot.warnings, [])
  const contents = contentsOf(t, shot)
  t.strictSame(
    [...contents.keys()],
    ['image', ...outputNames]
      .toReversed()
      .toSorted((one, other) => Number(one === 'image') - Number(other === 'image')),
  )
  const image = contents.get('image')!
  t.equal(createHash('sha256').update(image).digest('hex'), shot.sha256)
  t.strictSame(await pixel({ bytes: image }, 900, 700), blue)
  const text = (name: string) => String(contents.get(name))
  t.match(text('html'), /^<!DOCTYPE html>\s*<html lang="en">.*<h1>Tides of today<\/h1>/s)
  t.match(text('text'), /^Tides of today\n+Read more here, or there\.\n+Harbour\tHigh\n+Brest\t6\.9/)
  t.notMatch(text('text'), /hidden/)
  const more = `${pages.url}/more?token=1`
  t.ok(text('markdown').startsWith(`# Tides of today\n\nRead [more **here**](${more})`), text('markdown'))
  t.match(text('markdown'), /\| Harbour \| High \|\n\| --- \| --- \|\n\| Brest \| 6\.9 \|/)
  t.notMatch(text('markdown'), /hidden|javascript|drop/)
  t.strictSame(JSON.parse(text('links')), [
    { url: more, text: 'more here' },
    { url: 'https://user:***@example.com/', text: 'there' },
  ])
  t.match(JSON.parse(text('accessibility')), { role: 'RootWebArea', name: 'Tides' })
  t.match(text('accessibility'), /"role":"button","name":"Close"/)
  t.match(text('mhtml'), /^From: <Saved by Blink>.*Subject: Tides/s)
})

t.test('worker files: an output that is too large is left out with a warning, the others stay', async (t) => {
  const shot = await shoot({ url: `${pages.url}/long`, outputs: ['html', 'text', 'links'] })
  t.match(shot.warnings, [
    { code: 'output_unread', message: /^outputs: html could not be read, is empty, or is larger/ },
  ])
  const contents = contentsOf(t, shot)
  t.strictSame([String(contents.get('text')), String(contents.get('links'))], ['short', '[]'])
  t.notOk(contents.has('html'))
})

t.test(
  'worker files: outputs come with a pdf too, and a page that overrides its globals cannot change them',
  async (t) => {
    const html = `<h1>Real</h1><script>
    XMLSerializer.prototype.serializeToString = () => 'forged'
    Object.defineProperty(document, 'links', { value: [] })
    HTMLElement.prototype.cloneNode = () => null
  </script><a href="https://example.com/">a</a>`
    const shot = await shoot({ html, format: 'pdf', outputs: ['html', 'markdown', 'links'] })
    t.equal(shot.mimeType, 'application/pdf')
    const contents = contentsOf(t, shot)
    t.match(String(contents.get('image')), /^%PDF/)
    t.match(String(contents.get('html')), /<h1>Real<\/h1>/)
    t.match(String(contents.get('markdown')), /^# Real/)
    t.strictSame(JSON.parse(String(contents.get('links'))), [{ url: 'https://example.com/', text: 'a' }])
  },
)

t.test('worker files: renditions are further formats and sizes of the same picture', async (t) => {
  const html = '<body style="margin:0;background:rgb(255,0,0)"><div style="height:400px;background:rgb(0,0,255)"></div>'
  const shot = await shoot({
    html,
    format: 'jpeg',
    quality: 100,
    renditions: [
      { format: 'png' },
      { format: 'webp', resize_width: 320, quality: 60 },
      { format: 'avif', resize_width: 100, resize_height: 100, resize_mode: 'cover' },
      { format: 'tiff', resize_height: 80 },
      { format: 'jpeg' },
    ],
  })
  t.match(shot, { width: 1280, height: 800, mimeType: 'image/jpeg', warnings: [] })
  t.match(shot.files, [
    { name: 'rendition-1', format: 'png', width: 1280, height: 800 },
    { name: 'rendition-2', format: 'webp', width: 320, height: 200 },
    { name: 'rendition-3', format: 'avif', width: 100, height: 100 },
    { name: 'rendition-4', format: 'tiff', width: 128, height: 80 },
    { name: 'rendition-5', format: 'jpeg', width: 1280, height: 800 },
  ])
  const contents = contentsOf(t, shot)
  for (const [name, content] of contents) {
    const { width, height, format } = await sharp(content).metadata()
    const described = shot.files?.filter(isRendition).find((file) => file.name === name) ?? {
      width: 1280,
      height: 800,
      format: 'jpeg',
    }
    t.strictSame([width, height], [described.width, described.height], name)
    t.equal(format, described.format === 'avif' ? 'heif' : described.format, name)
    const [top, bottom] = [await pixel({ bytes: content }, 30, 10), await pixel({ bytes: content }, 30, height - 10)]
    t.ok(
      top[2]! > 240 && top[0]! < 15 && bottom[0]! > 240 && bottom[2]! < 15,
      `${name}: ${top.join()} over ${bottom.join()}`,
    )
  }
})

t.test('worker files: renditions without an alpha channel of a transparent image are on white', async (t) => {
  const html = '<!doctype html><div style="position:absolute;inset:0 0 400px;background:rgb(255,0,0)"></div>'
  const renditions = [{ format: 'jpeg' as const, quality: 100 }, { format: 'png' as const }]
  const contents = contentsOf(t, await shoot({ html, omit_background: true, renditions }))
  const jpeg = { bytes: contents.get('rendition-1')! }
  t.ok(
    (await pixel(jpeg, 600, 700)).every((channel) => channel > 250),
    'white',
  )
  const { data, info } = await sharp(contents.get('rendition-2'))
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  t.equal(data[(700 * info.width + 600) * 4 + 3], 0, 'transparent')
  t.strictSame(await pixel({ bytes: contents.get('rendition-2')! }, 600, 100), red)
})
