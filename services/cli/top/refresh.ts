import { pause } from '#shared/process/pause.ts'
import type { Screen } from '#cli/command.ts'

const escape = '\u001B['
/** A screen of its own, without a cursor: what stood on the terminal is there again afterwards. */
const enter = `${escape}?1049h${escape}?25l`
const leave = `${escape}?25h${escape}?1049l`

/** One write for each frame, over the one before: nothing is cleared before it is written anew, so nothing flickers. */
const frameOf = (lines: readonly string[]): string =>
  `${escape}H${lines.map((line) => `${line}${escape}K`).join('\n')}${escape}J`

/** Draws in place every `everyMs` until `stop` aborts, and leaves the terminal as it was, whatever happens. */
export const refresh = async (
  screen: Screen,
  frame: (size: ReturnType<Screen['size']>) => Promise<readonly string[]>,
  { everyMs, stop }: { readonly everyMs: number; readonly stop: AbortSignal },
): Promise<void> => {
  screen.write(enter)
  try {
    while (!stop.aborted) {
      const lines = await frame(screen.size())
      if (stop.aborted) break
      screen.write(frameOf(lines))
      await pause(everyMs, stop)
    }
  } finally {
    screen.write(leave)
  }
}
