import { foreignNames } from '#shared/capture/foreign-names.ts'
import { table } from './markdown-table.ts'

const intro = `# From other services

Options of other services and libraries, and the [parameter](parameters.md) that does the same here. Names that differ only in case,
hyphens and underscores, as \`fullPage\` and \`full_page\`, are left out; a request with a foreign name returns 422 and names ours.

- Times are in seconds where the name does not say otherwise: \`delay\`, \`timeout\`, \`cache_ttl\`. \`delay_ms\` is in milliseconds, as
  \`delay\` is with Urlbox, and \`timeout\` with Puppeteer.
- An access key goes into the header \`Authorization: Bearer …\`; for \`<img>\` there are [signed links](links.md).
- \`network_idle\` is \`networkidle\` and \`networkidle0\` elsewhere. Cookie banners are removed unless \`block_cookies\` is \`false\`.
- Some options are part of another one here: clips and places are objects (\`clip\`, \`geolocation\`), \`outputs\` is a list.

This page is generated from the code by \`make docs\`; \`make check\` fails if it differs.
`

const code = (text: string) => `\`${text}\``

/** The text of docs/from-other-services.md: by service, its options and our parameters. */
export const fromOtherServicesPage = (): string =>
  [
    intro,
    ...Object.entries(foreignNames).map(
      ([service, names]) =>
        `## ${service}\n\n${table(
          ['Option', 'Here'],
          Object.entries(names).map((row) => row.map(code)),
        )}\n`,
    ),
  ].join('\n')
