import { commonFlags, type Command, type Flag } from '#cli/command/command.ts'
import { flagForm } from '#cli/command/help.ts'
import { commands } from '#cli/commands.ts'
import { cell } from './schema-table.ts'

const intro = `# Command line

\`bin/shutterfleet --help\` shows the commands, \`COMMAND --help\` the flags of one, \`--version\` the version.

- **Output**: the result is printed to standard output, progress and messages to standard error. \`--json\` prints one JSON document and
  nothing else; \`listen\`, \`activity\` and \`capture --from\` print one on each line as they go. The help of each command names its fields:
  \`[{ … }]\` is a list, \`?\` a field that may be missing, \`| null\` one that may be null, \`…\` fields that are documented elsewhere. Colours, bars and questions appear on
  a terminal only; \`NO_COLOR\` and \`TERM=dumb\` are respected.
- **Exit codes**: 0 success, 1 failure (the message says what to do), 2 wrong usage (the message names the flag).
- **Durations** are written \`30s\`, \`2m\`, \`1h\`, \`90d\`.
- **Which installation**: the one that \`up\` started on the data folder (\`--data\`, \`SHUTTERFLEET_DATA\`, else \`.shutterfleet\`). Commands of
  administration use its database: for another one set \`SHUTTERFLEET_DATABASE_URL\`, and \`SHUTTERFLEET_KEY_PEPPER\` to create keys.
  \`capture\`, \`activity\`, \`listen\`, \`mcp\` and \`webhook\` use its HTTP interface with the key of the first account: for another
  service or account set \`SHUTTERFLEET_BASE_URL\` and \`SHUTTERFLEET_API_KEY\`. Changes are recorded in the audit log as made by \`command line\`.

## Completion

\`\`\`sh
source <(bin/shutterfleet completion bash)                                              # in ~/.bashrc, with the path of the program
source <(bin/shutterfleet completion zsh)                                               # in ~/.zshrc, after compinit
bin/shutterfleet completion fish > ~/.config/fish/completions/shutterfleet.fish
\`\`\`

## Capture a list

\`capture --from FILE\` captures one address per line (10,000 at most; lines that begin with \`#\` are comments) into a folder, each into a
file named by its line and address. Where the service names the time after which it accepts more, it waits, up to a minute at a time.
Captures that fail are listed, and the exit code is 1. With \`--json\` each capture is a line, printed when it ends. Ctrl-C stops it;
images that were stored remain.

## Listen to webhooks

\`listen --forward http://localhost:3000/hooks\` needs no public address: it follows the event stream of the account, and
sends each event to your receiver. Body and headers are those of a webhook, signed with the secret that it prints or that of \`--secret\`. It differs from a webhook in this:

- It sends \`screenshot.completed\`, \`screenshot.failed\` and \`batch.completed\`, not \`quota.warning\` and \`webhook.test\`.
- Each event is sent once, with a 10 second timeout: no retries, and no log of deliveries.
- After an interruption, or many changes at once, it reads the list of captures: at most the latest 2,000 since the oldest that had not ended.
- The plan needs no webhooks, and the receiver no https.

This page is generated from the code by \`make docs\`; \`make check\` fails if it differs.
`

const row = (entry: readonly [string, Flag]) => `| \`${cell(flagForm(...entry))}\` | ${cell(entry[1].help)} |`

const section = (name: string, { usage, summary, json, flags }: Command): string => {
  const own = Object.entries<Flag>(flags).filter(([flag]) => !(flag in commonFlags))
  const table = own.length === 0 ? [] : ['', '| Flag | Meaning |', '|---|---|', ...own.map(row)]
  const title = `### ${name}\n\n\`${usage}\`: ${summary}.`
  return [title, ...table, '', `\`--json\` prints ${json}.`, ''].join('\n')
}

/** The text of docs/command-line.md: every command with its flags. */
export const commandLinePage = async (): Promise<string> => {
  const loaded = await Promise.all(Object.entries(commands).map(async ([name, load]) => section(name, await load())))
  return [intro, '## Commands\n', ...loaded].join('\n')
}
