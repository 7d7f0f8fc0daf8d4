/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

/** What a browser and all that it starts may be at most. */
export type Limits = {
  /** Processes and threads of one user in one namespace; undefined where they would be counted with those of others. */
  readonly tasksMax: number | undefined
}

/** A page with frames of a hundred sites needs about as many. */
export const tasksMax = 2048

/** As Chromium sets it for renderers: they, and the browser with them, go before any service when memory ends. */
const oomScore = 300

/** Raises and lowers only, which everybody may; a stricter bound than ours stays. */
const limit = `
echo "$1" 2>/dev/null >/proc/self/oom_score_adj
prlimit --pid $$ --core=0 || exit
[ -z "$2" ] || prlimit --pid $$ --nproc="$2" 2>/dev/null
shift 2
exec "$@"`

/** The command that runs `command` within the limits, without core dumps, and as one of the first to end when memory does. */
export const limited = (command: Command, limits: Limits): Command => [
  'sh',
  '-c',
  limit,
  'sh',
  String(oomScore),
  String(limits.tasksMax ?? ''),
  ...command,
]
