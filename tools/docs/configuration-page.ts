import { prefix } from '#shared/config/read-env.ts'
import type { Settings } from '#shared/config/setting.ts'
import type { Setting } from '#shared/config/setting.ts'
import { allSettings } from '#shared/config/settings/all.ts'
import { cell } from './schema-table.ts'

const intro = `# Configuration

Every setting is an environment variable with the prefix \`${prefix}\`. A service reads its settings once, at its start,
and reports all problems at once; a variable with the prefix that is not listed here is an error. \`NAME_FILE\` in place of
\`NAME\` reads the value from a file, for secrets. Secrets never appear in messages or logs.

Authorities of your own, which PostgreSQL, NATS or the object store have, are a PEM file that \`NODE_EXTRA_CA_CERTS\` names for every
process; \`up\` hands it on. Pages do not trust them: for these is \`SHUTTERFLEET_EXTRA_CA\`.

Gateway, ledger and webhooks send traces where \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set, and follow the other standard \`OTEL_…\`
variables ([operations.md](operations.md#traces)).

This page is generated from the code by \`make docs\`; \`make check\` fails where it differs.
`

const fallbackOf = (setting: Setting<unknown>) => {
  if (setting.fallback === undefined) return 'required'
  return setting.fallback === '' ? 'none' : `\`${setting.fallback}\``
}

const row = (setting: Setting<unknown>) =>
  `| \`${prefix}${setting.name}\` | ${cell(setting.kind)}${setting.secret ? ', secret' : ''} | ${fallbackOf(setting)} | ${cell(setting.help)} |`

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
