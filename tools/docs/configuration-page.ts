import { prefix } from '#shared/config/read-env.ts'
import type { Settings } from '#shared/config/settings/setting.ts'
import type { Setting } from '#shared/config/settings/setting.ts'
import { allSettings } from '#shared/config/settings/all.ts'
import { cell } from './schema-table.ts'

const intro = `# Configuration

Every setting is an environment variable with the prefix \`${prefix}\`. A service reads its settings once, at startup, and reports
all problems at once; an unlisted variable with the prefix is an error. For a secret setting,
\`NAME_FILE\` instead of \`NAME\` reads the value from a file; no other setting takes a file. Secrets never appear in messages or
logs.

For private CAs of PostgreSQL, NATS or the object store, set \`NODE_EXTRA_CA_CERTS\` to a PEM file for every process; \`up\`
passes it on. Pages do not trust them: use \`SHUTTERFLEET_EXTRA_CA\` for pages.

Gateway, ledger and webhooks export traces if \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set, and support the other standard \`OTEL_…\`
variables ([monitoring.md](monitoring.md#traces)).

This page is generated from the code by \`make docs\`; \`make check\` fails if it differs.
`

const renderFallback = (setting: Setting<unknown>) => {
  if (setting.fallback === undefined) return 'required'
  return setting.fallback === '' ? 'none' : `\`${setting.fallback}\``
}

const row = (setting: Setting<unknown>) =>
  `| \`${prefix}${setting.name}\` | ${cell(setting.kind)}${setting.secret ? ', secret' : ''} | ${renderFallback(setting)} | ${cell(setting.help)} |`

const section = (title: string, settings: Settings) =>
  [
    `## ${title}`,
    '',
    '| Variable | Kind | Default | What it sets |',
    '|---|---|---|---|',
    ...Object.values(settings).map(row),
    '',
  ].join('\n')

/** The text of docs/configuration.md: every setting of the project with its kind, bounds and default. */
export const configurationPage = (): string =>
  [
    intro,
    ...Object.entries(allSettings).flatMap(([title, settings]) =>
      Object.keys(settings).length > 0 ? [section(title, settings)] : [],
    ),
  ].join('\n')
