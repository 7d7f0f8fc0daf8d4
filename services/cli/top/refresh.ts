import { pause } from '#shared/process/pause.ts'
import type { Screen } from '#cli/command/command.ts'

const escape = '\u001B['
/** Switches to the alternate screen and hides the cursor; `leave` restores both. */
const enter = `${escape}?1049h${escape}?25l`
const leave = `${escape}?25h${escape}?1049l`

/** Overwrites the previous frame in one write and clears only the remainders, which avoids flicker. */
const renderFrame = (lines: readonly string[]): string =>
  `${escape}H${lines.map((line) => `${line}${escape}K`).join('\n')}${escape}J`

/** Draws in place every `everyMs` until `stop` aborts; restores the terminal, on errors too. */
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
      screen.write(renderFrame(lines))
      await pause(everyMs, stop)
    }
  } finally {
    screen.write(leave)
  }
}
