import sharp from 'sharp'
import t from 'tap'
import { bareShot, startBareBrowser } from '#test/helpers/bare-browser.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { colours, difference } from '#test/helpers/pictures.ts'
import { realSites } from '#test/helpers/real-sites.ts'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem } from '#test/helpers/system.ts'

const sites = await realSites()
const servers = await Promise.all(sites.map(({ folder }) => serveFolder(folder)))
const system = await startSystem(servers.flatMap(({ host }) => ['--allow-target', host]))
const bare = await startBareBrowser()
t.teardown(async () => {
  await bare.close()
  await system.stop()
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
})

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())
const readSize = async (file: Buffer) => {
  const { format, width, height } = await sharp(file).metadata()
  return { format, width, height }
}

for (const [index, { name, page }] of sites.entries()) {
  const url = `http://${servers[index]?.host}/${page}`

  t.test(`${name}: GET gives the viewport as png, equal to a bare browser's`, async (t) => {
    const response = await system.request(`/v1/screenshots/capture?url=${encodeURIComponent(url)}`)
    const image = await bytesOf(response)
    t.equal(response.headers.get('content-type'), 'image/png')
    t.strictSame(await readSize(image), { format: 'png', width: 1280, height: 800 })
    t.ok((await difference(image, await bareShot(bare, url))) < 0.001, 'equal pixels')
  })

  t.test(`${name}: POST gives the viewport as jpeg, close to a bare browser's`, async (t) => {
    const image = await bytesOf(await system.post('/v1/screenshots/capture', { url, format: 'jpeg', quality: 90 }))
    t.strictSame(await readSize(image), { format: 'jpeg', width: 1280, height: 800 })
    t.ok((await difference(image, await bareShot(bare, url), 48)) < 0.01, 'equal except for compression')
    t.ok((await colours(image)) > 1000)
  })

  t.test(`${name}: a create gives the full page as webp, as tall as a bare browser's`, async (t) => {
    const id = await system.create({ url, format: 'webp', full_page: true })
    await eventually(async () => (await system.record(id)).status === 'completed', { withinMs: 60_000 })
    const image = await bytesOf(await system.request(`/v1/screenshots/${id}/image`))
    const whole = await readSize(await bareShot(bare, url, { fullPage: true }))
    t.strictSame(await readSize(image), { ...whole, format: 'webp' })
    t.match(await system.record(id), { width: whole.width, file_size: image.length, mime_type: 'image/webp' })
  })
}
