import type { Session } from '#worker/browser-host/browser/connection.ts'

type Size = { readonly width: number; readonly height: number }

/** CSS pixels of tabs and address bar above the page. */
const toolbarHeight = 85

const usualScreens: readonly Size[] = [
  { width: 1920, height: 1080 },
  { width: 2560, height: 1440 },
  { width: 3840, height: 2160 },
]

/** The browser's window around a viewport. */
const windowAround = ({ width, height }: Size): Size => ({ width, height: height + toolbarHeight })

/** The smallest usual screen that has room for the window around a viewport; none smaller than the window. */
export const screenFor = (viewport: Size): Size => {
  const window = windowAround(viewport)
  return usualScreens.find(({ width, height }) => width >= window.width && height >= window.height) ?? window
}

/** Gives the page a window of a desktop's shape; the viewport stays as it is emulated. */
export const shapeWindow = async (session: Pick<Session, 'send'>, viewport: Size): Promise<void> => {
  const { windowId } = await session.send('Browser.getWindowForTarget')
  await session.send('Browser.setWindowBounds', { windowId, bounds: windowAround(viewport) })
}
