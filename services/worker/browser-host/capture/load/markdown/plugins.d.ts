import type { MarkdownIt } from 'markdown-it'

/** The plugins of markdown-it in use that have no types of their own. */
declare const plugin: (markdown: MarkdownIt) => void
export default plugin
/** All names of emoji. */
export declare const full: (markdown: MarkdownIt, options: { readonly shortcuts: Record<string, string> }) => void
