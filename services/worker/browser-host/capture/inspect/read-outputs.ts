import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Protocol } from 'devtools-protocol'
import { within } from '#shared/process/within.ts'
import { maskUrl } from '#shared/capture/mask-url.ts'
import { type OutputName, outputBytesMax } from '#shared/capture/files.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'

/** Most links of an output, and most elements of a document whose tree is read. */
const linksMax = 5000
const nodesMax = 50_000

type Page = Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>

/** An output of the page; undefined if it could not be read, or is too large. */
export type ReadOutput = { readonly name: OutputName; readonly content: Buffer | undefined }

const readLibrary = (url: string) => readFileSync(fileURLToPath(url), 'utf8')

/** Expression that converts the page to Markdown, in an isolated world. */
const readMarkdown = `(() => {
    ${readLibrary(import.meta.resolve('turndown/dist/turndown.js'))}
    const plugin = ((exports) => { ${readLibrary(import.meta.resolve('@joplin/turndown-plugin-gfm'))}
      return exports })({})
    const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
    service.use(plugin.gfm)
    service.remove(['script', 'style', 'noscript', 'template', 'iframe'])
    const copy = document.body.cloneNode(true)
    const originals = [...document.body.querySelectorAll('*')]
    for (const [at, element] of [...copy.querySelectorAll('*')].entries()) {
      if (!originals[at].checkVisibility()) element.remove()
      if (element.localName === 'img' && element.hasAttribute('src')) element.setAttribute('src', element.src)
      if (element.localName !== 'a' || !element.hasAttribute('href')) continue
      if (/^(?:https?|mailto):$/.test(element.protocol)) element.setAttribute('href', element.href)
      else element.removeAttribute('href')
    }
    return service.turndown(copy)
  })()`

/** Expressions for the isolated world of the document that give the text of an output. */
const expressions: Record<Exclude<OutputName, 'accessibility' | 'mhtml'>, string> = {
  html: `(document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\\n' : '') + document.documentElement.outerHTML`,
  text: 'document.body.innerText',
  markdown: readMarkdown,
  links: `[...document.links].slice(0, ${linksMax}).map(({ href, innerText }) => ({ url: href, text: innerText.trim().slice(0, 1000) }))`,
}

type Link = { readonly url: string; readonly text: string }

const linksOf = (links: readonly Link[]) =>
  links.flatMap(({ url, text }) => (/^https?:/.test(url) ? [{ url: maskUrl(url), text }] : []))

/** The accessibility tree of the main frame: role, name, value, description and children of each element that is not ignored. */
const readAccessibility = async ({ session }: Page) => {
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const present = (fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))
  const treeOf = (id: string): unknown[] => {
    const node = byId.get(id)
    if (!node) return []
    const children = (node.childIds ?? []).flatMap(treeOf)
    if (node.ignored || node.role?.value === 'InlineTextBox') return children
    const { role, name, value, description } = node
    const texts = { role: role?.value, name: name?.value, value: value?.value, description: description?.value }
    return [{ ...present(texts), ...(children.length > 0 && { children }) }]
  }
  const [root] = nodes
  return root ? treeOf(root.nodeId)[0] : undefined
}

const bytesOf = ({ resources, childFrames = [] }: Protocol.Page.FrameResourceTree): number =>
  resources.reduce((sum, { contentSize = 0 }) => sum + contentSize, 0) +
  childFrames.reduce((sum, frame) => sum + bytesOf(frame), 0)

const readMhtml = async ({ session }: Page) => {
  const { frameTree } = await session.send('Page.getResourceTree')
  if (bytesOf(frameTree) > outputBytesMax) return undefined
  return (await session.send('Page.captureSnapshot', { format: 'mhtml' })).data
}

/** Whether all of the document may be converted, and sent to be held in memory. */
const isBounded = `document.querySelectorAll('*').length <= ${nodesMax} && document.documentElement.outerHTML.length <= ${outputBytesMax}`

const read = async (open: Page, name: OutputName, endsAt: number): Promise<unknown> => {
  const needsBound = name === 'accessibility' || name === 'markdown' || name === 'mhtml'
  if (needsBound && (await runInLatestDocument(open, () => isBounded, endsAt)) !== true) return undefined
  if (name === 'accessibility') return readAccessibility(open)
  if (name === 'mhtml') return readMhtml(open)
  const sent = name === 'links' ? '' : `.slice(0, ${outputBytesMax + 1})`
  const content = await runInLatestDocument(open, () => `(${expressions[name]})${sent}`, endsAt)
  return name === 'links' ? linksOf((content ?? []) as Link[]) : content
}

/** Reads the outputs of a page one after the other, in `waitMs` at most. */
export const readOutputs = async (open: Page, names: readonly OutputName[], waitMs: number): Promise<ReadOutput[]> => {
  const endsAt = performance.now() + waitMs
  const late = () => new Error('the page did not respond in time')
  const outputs: ReadOutput[] = []
  for (const name of names) {
    const value = await within(read(open, name, endsAt), Math.max(1, endsAt - performance.now()), late).catch(() => {})
    const content = Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    const isUsable = value !== undefined && content.length > 0 && content.length <= outputBytesMax
    outputs.push({ name, content: isUsable ? content : undefined })
  }
  return outputs
}
